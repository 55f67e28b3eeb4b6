// doc: Count the episodes that pass filters, and list the ids of the first of them by turn.
// mode: read
// params: tenant STRING, session STRING, speakers LIST<STRING>, occurred_from DATETIME,
//   occurred_before DATETIME, sessions LIST<STRING>, role STRING, metadata LIST<STRING>,
//   exclude LIST<STRING>, limit INTEGER
// returns: matched INTEGER, ids LIST<STRING>, sealed INTEGER
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn > 0
  AND ($session IS NULL OR e.session = $session)
  AND ($speakers IS NULL OR e.speaker IN $speakers)
  AND ($occurred_from IS NULL OR e.occurred_at >= $occurred_from)
  AND ($occurred_before IS NULL OR e.occurred_at < $occurred_before)
  AND ($sessions IS NULL OR e.session IN $sessions)
  AND ($role IS NULL OR e.role = $role)
  AND NOT e.id IN $exclude
// The metadata of an archived episode are in the archive.
WITH e, size($metadata) > 0 AND e:ArchivedEpisode AS sealed
WHERE sealed OR all(entry IN $metadata
  WHERE e.metadata CONTAINS entry + ', ' OR e.metadata ENDS WITH entry + '}')
ORDER BY e.tenant, e.turn
RETURN sum(CASE WHEN sealed THEN 0 ELSE 1 END) AS matched,
  collect(CASE WHEN NOT sealed THEN e.id END)[..$limit] AS ids,
  sum(CASE WHEN sealed THEN 1 ELSE 0 END) AS sealed
