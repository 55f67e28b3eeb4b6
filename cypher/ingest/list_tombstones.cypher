// doc: List which of these episodes were erased, and whether their time limit is over.
// mode: read
// params: tenant STRING, ids LIST<STRING>, seconds FLOAT
// each: id STRING, is_over BOOLEAN
CYPHER 25
UNWIND $ids AS id
MATCH (b:Tombstone {id: id})
WHERE b.tenant = $tenant
WITH b
ORDER BY b.id
RETURN collect([b.id, b.erased_at <= datetime() - duration({seconds: $seconds})]) AS rows
