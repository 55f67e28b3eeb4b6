// doc: Search the vector index inside the tenant, and score again exactly.
// mode: read
// params: tenant STRING, vector VECTOR, fetch INTEGER, limit INTEGER
// each: id STRING, session STRING, ordinal INTEGER, score FLOAT
CYPHER 25
MATCH (e:LiveEpisode)
SEARCH e IN (
  VECTOR INDEX episode_embedding
  FOR $vector
  // Ranges that leave nothing out would cost a third more.
  WHERE e.tenant = $tenant
  LIMIT $fetch
)
WITH e, 1 - vector_distance(
    vector(e.embedding, vector_dimension_count($vector), FLOAT32), $vector, COSINE
  ) AS score
// The index may still name an episode that was archived a moment ago.
WHERE score IS NOT NULL
ORDER BY score DESC, e.turn
LIMIT $limit
RETURN collect([e.id, e.session, e.ordinal, score]) AS rows
