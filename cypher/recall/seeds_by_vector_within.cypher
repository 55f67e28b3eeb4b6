// doc: Search the vector index with every filter inside it, and score again exactly.
// mode: read
// params: tenant STRING, fetch INTEGER
CYPHER 25
MATCH (e:LiveEpisode)
SEARCH e IN (
  VECTOR INDEX episode_embedding
  FOR $vector
  WHERE e.tenant = $tenant
    // use: ranged(e)
  LIMIT $fetch
)
// use: scored(e)
// use: best_episodes(e)
