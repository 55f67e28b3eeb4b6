// doc: List every concept of a tenant, with the mark that a write has left on it.
// mode: read
// params: tenant STRING
// each: id STRING, turn INTEGER, mark STRING
CYPHER 25
MATCH (c:Name)
WHERE c.tenant = $tenant AND c.normalised IS NOT NULL AND c:Concept
WITH c
ORDER BY c.id
RETURN collect([c.id, 0, coalesce(c.touched, '')]) AS rows
