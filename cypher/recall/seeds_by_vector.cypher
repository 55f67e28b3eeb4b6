// doc: Search the vector index inside the tenant, and score again exactly.
// mode: read
// params: tenant STRING, fetch INTEGER
CYPHER 25
MATCH (e:LiveEpisode)
SEARCH e IN (
  VECTOR INDEX episode_embedding
  FOR $vector
  // Ranges that leave nothing out would cost a third more.
  WHERE e.tenant = $tenant
  LIMIT $fetch
)
// use: scored(e)
// use: best_episodes(e)
