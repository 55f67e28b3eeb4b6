// doc: List the concepts that items mention.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// returns: id STRING, concepts LIST<STRING>
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
RETURN e.id AS id, COLLECT { MATCH (e)-[:MENTIONS]->(c:Concept) RETURN c.normalised } AS concepts
ORDER BY id
