// doc: Fetch the vectors of live concepts; one without a vector is left out.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// returns: id STRING, vector VECTOR
CYPHER 25
UNWIND $ids AS id
MATCH (c:Concept {id: id})
WHERE c.tenant = $tenant AND c:LiveConcept AND c.embedding IS NOT NULL
RETURN c.id AS id, vector(c.embedding, size(c.embedding), FLOAT32) AS vector
ORDER BY c.id
