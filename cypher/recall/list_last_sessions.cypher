// doc: List the sessions of a tenant's latest live turns, the last one first, each with its latest
//   turns, newest first; notes without a session count as one session, and documents do not.
// mode: read
// params: tenant STRING, speakers LIST<STRING>, scanned INTEGER, limit INTEGER, turns INTEGER
// returns: session STRING, last_occurred_at DATETIME, ids LIST<STRING>
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn > 0 AND e:LiveEpisode AND e.title IS NULL
  AND coalesce(e.expires_at > datetime(), true)
WITH e
ORDER BY e.tenant DESC, e.turn DESC
LIMIT $scanned
WITH e.session AS session, e
ORDER BY coalesce(e.ordinal, 0) DESC, e.occurred_at DESC, e.turn DESC
WITH session, max(e.occurred_at) AS last_occurred_at, max(e.turn) AS turn,
  collect(e.id) AS ids, collect(DISTINCT e.speaker) AS spoken
WHERE $speakers IS NULL OR any(one IN spoken WHERE one IN $speakers)
RETURN session, last_occurred_at, ids[..$turns] AS ids
ORDER BY last_occurred_at DESC, turn DESC
LIMIT $limit
