// doc: Search the vector index of passages with every filter inside it, and score again exactly.
// mode: read
// params: tenant STRING, fetch INTEGER
CYPHER 25
MATCH (p:LivePassage)
SEARCH p IN (
  VECTOR INDEX passage_embedding
  FOR $vector
  WHERE p.tenant = $tenant
    // use: ranged(p)
  LIMIT $fetch
)
// use: scored(p)
// use: best_passages(p)
