// doc: List the concepts that a write has marked.
// mode: read
// params: tenant STRING
// each: id STRING, turn INTEGER, mark STRING
CYPHER 25
MATCH (c:Concept)
WHERE c.tenant = $tenant AND c.touched IS NOT NULL
WITH c
ORDER BY c.id
RETURN collect([c.id, 0, c.touched]) AS rows
