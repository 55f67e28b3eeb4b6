// doc: Fetch the vectors of live concepts; one without a vector is left out.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// returns: id STRING, vector EMBEDDING
CYPHER 25
UNWIND $ids AS id
MATCH (c:Concept {id: id})
WHERE c.tenant = $tenant AND c:LiveConcept AND c.embedding IS NOT NULL
RETURN c.id AS id, c.embedding AS vector
ORDER BY c.id
