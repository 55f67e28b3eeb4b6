// doc: List the live concepts with a vector around which merges were not searched yet, by id.
// mode: read
// params: tenant STRING, generation INTEGER
// each: id STRING
CYPHER 25
MATCH (c:Name)
WHERE c.tenant = $tenant AND c.normalised IS NOT NULL AND c:LiveConcept
  AND c.embedding IS NOT NULL AND coalesce(c.searched, -1) <> $generation
WITH c
ORDER BY c.id
RETURN collect([c.id]) AS rows
