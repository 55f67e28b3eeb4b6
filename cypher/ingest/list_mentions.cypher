// doc: List the concepts that items mention.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// each: id STRING, concepts LIST<STRING>
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
WITH e
ORDER BY e.id
RETURN collect(
  [e.id, COLLECT { MATCH (e)-[:MENTIONS]->(c:Concept) RETURN c.normalised }]
) AS rows
