// doc: Give all that is shown of an episode; an archived one shows its summary as text.
// returns: id STRING, tenant STRING, turn INTEGER, text STRING, title STRING, speaker STRING,
//   role STRING, session STRING, ordinal INTEGER, position INTEGER, occurred_at DATETIME,
//   recorded_at DATETIME, source STRING, metadata STRING, importance FLOAT, expires_at DATETIME,
//   state STRING, utc_offset INTEGER
RETURN node.id AS id, node.tenant AS tenant, node.turn AS turn,
  coalesce(node.text, node.summary) AS text, node.title AS title,
  node.speaker AS speaker, node.role AS role, node.session AS session, node.ordinal AS ordinal,
  node.position AS position, node.occurred_at AS occurred_at, node.recorded_at AS recorded_at,
  node.source AS source, coalesce(node.metadata, '{}') AS metadata, node.importance AS importance,
  node.expires_at AS expires_at,
  CASE
    WHEN node:LiveEpisode THEN 'live' WHEN node:ArchivedEpisode THEN 'archived' ELSE 'dormant'
  END AS state,
  node.utc_offset AS utc_offset
