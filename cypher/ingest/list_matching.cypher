// doc: Count the episodes that pass filters, and list the ids of the first of them by turn.
// mode: read
// params: role STRING, metadata LIST<STRING>,
//   exclude LIST<STRING>, limit INTEGER
// returns: matched INTEGER, ids LIST<STRING>, sealed INTEGER
CYPHER 25
// use: chosen(e)
WITH e
WHERE NOT e.id IN $exclude
  // use: placed(e)
  AND ($role IS NULL OR e.role = $role)
  // use: of_kind(e)
// The metadata of an archived episode are in the archive.
WITH e, $metadata IS NOT NULL AND e:ArchivedEpisode AS sealed
WHERE sealed OR $metadata IS NULL OR e.metadata IN $metadata
ORDER BY e.tenant, e.turn
RETURN sum(CASE WHEN sealed THEN 0 ELSE 1 END) AS matched,
  collect(CASE WHEN NOT sealed THEN e.id END)[..$limit] AS ids,
  sum(CASE WHEN sealed THEN 1 ELSE 0 END) AS sealed
