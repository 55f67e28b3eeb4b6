// doc: Count the episodes that pass filters, and list the ids of the first of them by turn.
// mode: read
// params: tenant STRING, session STRING, speaker STRING, occurred_from DATETIME,
//   occurred_before DATETIME, exclude LIST<STRING>, limit INTEGER
// returns: matched INTEGER, ids LIST<STRING>
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn > 0
  AND ($session IS NULL OR e.session = $session)
  AND ($speaker IS NULL OR e.speaker = $speaker)
  AND ($occurred_from IS NULL OR e.occurred_at >= $occurred_from)
  AND ($occurred_before IS NULL OR e.occurred_at < $occurred_before)
  AND NOT e.id IN $exclude
WITH e
ORDER BY e.tenant, e.turn
RETURN count(e) AS matched, collect(e.id)[..$limit] AS ids
