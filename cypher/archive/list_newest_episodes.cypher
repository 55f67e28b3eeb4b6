// doc: List a tenant's episodes by turn, the newest first, from before a cursor on.
// mode: read
// params: tenant STRING, speakers LIST<STRING>, role STRING,
//   metadata LIST<STRING>, occurred_from DATETIME, occurred_before DATETIME, before_turn INTEGER, limit INTEGER
// returns: id STRING, tenant STRING, turn INTEGER, text STRING, title STRING, speaker STRING,
//   role STRING, session STRING, ordinal INTEGER, position INTEGER, occurred_at DATETIME,
//   recorded_at DATETIME, source STRING, metadata STRING, importance FLOAT, expires_at DATETIME,
//   state STRING
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn < $before_turn
  AND ($speakers IS NULL OR e.speaker IN $speakers)
  AND ($role IS NULL OR e.role = $role)
  AND all(entry IN $metadata
    WHERE e.metadata CONTAINS entry + ', ' OR e.metadata ENDS WITH entry + '}')
  AND ($occurred_from IS NULL OR e.occurred_at >= $occurred_from)
  AND ($occurred_before IS NULL OR e.occurred_at < $occurred_before)
  AND coalesce(e.expires_at > datetime(), true)
RETURN e.id AS id, e.tenant AS tenant, e.turn AS turn, coalesce(e.text, e.summary) AS text, e.title AS title,
  e.speaker AS speaker, e.role AS role, e.session AS session, e.ordinal AS ordinal,
  e.position AS position, e.occurred_at AS occurred_at, e.recorded_at AS recorded_at,
  e.source AS source, coalesce(e.metadata, '{}') AS metadata, e.importance AS importance,
  e.expires_at AS expires_at,
  CASE
    WHEN e:LiveEpisode THEN 'live' WHEN e:ArchivedEpisode THEN 'archived' ELSE 'dormant'
  END AS state
ORDER BY tenant DESC, turn DESC
LIMIT $limit
