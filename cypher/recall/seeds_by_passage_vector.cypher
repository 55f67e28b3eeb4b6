// doc: Search the vector index of passages inside the tenant, and score again exactly.
// mode: read
// params: tenant STRING, fetch INTEGER
CYPHER 25
MATCH (p:LivePassage)
SEARCH p IN (
  VECTOR INDEX passage_embedding
  FOR $vector
  // Ranges that leave nothing out would cost a third more.
  WHERE p.tenant = $tenant
  LIMIT $fetch
)
// use: scored(p)
// use: best_passages(p)
