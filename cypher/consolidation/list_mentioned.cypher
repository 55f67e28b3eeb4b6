// doc: List the concepts that episodes mention.
// mode: read
// params: tenant STRING, episodes LIST<STRING>
// returns: id STRING
CYPHER 25
UNWIND $episodes AS one
MATCH (e:Episode {id: one})-[:MENTIONS]->(c:Concept)
WHERE e.tenant = $tenant
RETURN DISTINCT c.id AS id
ORDER BY id
