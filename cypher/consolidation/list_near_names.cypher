// doc: Search the vector index around concepts for near ones that no rule of names has compared.
// mode: read
// params: tenant STRING, concepts LIST<STRING>, fetch INTEGER
CYPHER 25
UNWIND $concepts AS id
MATCH (a:Concept {id: id})
WHERE a.tenant = $tenant AND a:LiveConcept AND a.embedding IS NOT NULL
WITH a, vector(a.embedding, size(a.embedding), FLOAT32) AS here
CALL (here) {
  MATCH (b:LiveConcept)
  SEARCH b IN (
    VECTOR INDEX concept_embedding
    FOR here
    WHERE b.tenant = $tenant
    LIMIT $fetch
  )
  RETURN b
}
// use: unnamed(a)
