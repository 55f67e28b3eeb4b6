// doc: List which facts are stored.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// each: id STRING
CYPHER 25
UNWIND $ids AS id
MATCH (f:Fact {id: id})
WHERE f.tenant = $tenant
WITH f
ORDER BY f.id
RETURN collect([f.id]) AS rows
