// doc: Search the text index; filters other than the tenant's cut its ranked hits.
// mode: read
// params: tenant STRING, query STRING, fetch INTEGER, role STRING, metadata LIST<STRING>
CYPHER 25
CALL db.index.fulltext.queryNodes('episode_terms', $query, {limit: $fetch})
YIELD node, score
WHERE node.tenant = $tenant
  // use: placed(node)
  AND ($role IS NULL OR node.role = $role)
  // use: of_kind(node)
  AND ($metadata IS NULL OR node.metadata IN $metadata)
WITH node, score
// use: best_episodes(node)
