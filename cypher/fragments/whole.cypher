// doc: Give all that is shown of an episode, after `used`; an archived one shows its summary as text.
// returns: id STRING, turn INTEGER, text STRING, title STRING, speaker STRING,
//   role STRING, session STRING, ordinal INTEGER, position INTEGER, occurred_at LOCAL_INSTANT,
//   recorded_at DATETIME, source STRING, metadata JSON, importance FLOAT, kind STRING,
//   expires_at DATETIME, state STRING, pinned BOOLEAN, uses INTEGER, last_used_at INSTANT, retrievability FLOAT,
//   reliability FLOAT
RETURN node.id AS id, node.turn AS turn,
  coalesce(node.text, node.summary) AS text, node.title AS title,
  nullIf(node.speaker, '') AS speaker, node.role AS role, nullIf(node.session, '') AS session,
  node.ordinal AS ordinal, node.position AS position,
  [node.occurred_at.epochSeconds * 1000000 + node.occurred_at.microsecond, node.utc_offset]
    AS occurred_at,
  node.recorded_at AS recorded_at,
  node.source AS source, coalesce(node.metadata, '{}') AS metadata, node.importance AS importance,
  // use: kind(node)
  AS kind,
  node.expires_at AS expires_at,
  CASE
    WHEN node:LiveEpisode THEN 'live' WHEN node:ArchivedEpisode THEN 'archived' ELSE 'dormant'
  END AS state,
  pinned, uses, last_used_at, retrievability,
  CASE WHEN node.reliability_0 IS NOT NULL THEN
    (4 * node.reliability_0 + node.reward_pos) / (4.0 + node.reward_pos + node.reward_neg)
  END AS reliability
