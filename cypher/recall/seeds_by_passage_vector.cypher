// doc: Search the vector index of passages inside the tenant, and score again exactly.
// mode: read
// params: tenant STRING, vector VECTOR, fetch INTEGER, limit INTEGER
// each: passage STRING, episode STRING, session STRING, ordinal INTEGER, part INTEGER, score FLOAT
CYPHER 25
MATCH (p:LivePassage)
SEARCH p IN (
  VECTOR INDEX passage_embedding
  FOR $vector
  // Ranges that leave nothing out would cost a third more.
  WHERE p.tenant = $tenant
  LIMIT $fetch
)
WITH p, 1 - vector_distance(
    vector(p.embedding, vector_dimension_count($vector), FLOAT32), $vector, COSINE
  ) AS score
// The index may still name an episode that was archived a moment ago.
WHERE score IS NOT NULL
ORDER BY score DESC, p.turn, p.ordinal
LIMIT $limit
MATCH (p)<-[:HAS_PASSAGE]-(e:Episode)
WITH p, e, score
ORDER BY score DESC, p.turn, p.ordinal
RETURN collect([p.id, e.id, e.session, e.ordinal, p.ordinal, score]) AS rows
