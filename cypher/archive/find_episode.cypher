// doc: Fetch one episode, live or not, and one whose life is over if wanted.
// mode: read
// params: tenant STRING, id STRING, expired BOOLEAN
// returns: id STRING, tenant STRING, turn INTEGER, text STRING, title STRING, speaker STRING,
//   role STRING, session STRING, ordinal INTEGER, position INTEGER, occurred_at DATETIME,
//   recorded_at DATETIME, source STRING, metadata STRING, importance FLOAT, expires_at DATETIME,
//   state STRING
CYPHER 25
MATCH (e:Episode {id: $id})
WHERE e.tenant = $tenant AND ($expired OR coalesce(e.expires_at > datetime(), true))
RETURN e.id AS id, e.tenant AS tenant, e.turn AS turn, coalesce(e.text, e.summary) AS text, e.title AS title,
  e.speaker AS speaker, e.role AS role, e.session AS session, e.ordinal AS ordinal,
  e.position AS position, e.occurred_at AS occurred_at, e.recorded_at AS recorded_at,
  e.source AS source, coalesce(e.metadata, '{}') AS metadata, e.importance AS importance,
  e.expires_at AS expires_at,
  CASE
    WHEN e:LiveEpisode THEN 'live' WHEN e:ArchivedEpisode THEN 'archived' ELSE 'dormant'
  END AS state
