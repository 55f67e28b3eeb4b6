// doc: Search the text index; filters other than the tenant's cut its ranked hits.
// mode: read
// params: tenant STRING, query STRING, fetch INTEGER
CYPHER 25
CALL db.index.fulltext.queryNodes('episode_terms', $query, {limit: $fetch})
YIELD node, score
WHERE node.tenant = $tenant
  // use: filtered(node)
WITH node, score
// use: best_episodes(node)
