// doc: List which of these episodes were erased, and forget those whose time limit is over.
// mode: write
// params: tenant STRING, ids LIST<STRING>, seconds FLOAT
// returns: id STRING
// plan: Eager all are found before the first is deleted, batches are small
CYPHER 25
UNWIND $ids AS id
MATCH (b:Tombstone {id: id})
WHERE b.tenant = $tenant
WITH b, b.id AS id, b.erased_at <= datetime() - duration({seconds: $seconds}) AS is_over
FOREACH (over IN CASE WHEN is_over THEN [b] ELSE [] END | DELETE over)
WITH id, is_over
WHERE NOT is_over
RETURN id
ORDER BY id
