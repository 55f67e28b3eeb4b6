// doc: Find engrams by the words and by the meaning of their summaries: the best of each index, with
//   the scores of both.
// mode: read
// params: tenant STRING, query STRING, vector VECTOR, limit INTEGER
// returns: engram MAP, score FLOAT, cosine FLOAT
CYPHER 25
WITH $tenant AS tenant
CALL (tenant) {
  WITH tenant
  WHERE $query IS NOT NULL
  CALL db.index.fulltext.queryNodes('engram_terms', $query, {limit: $limit})
  YIELD node, score
  WHERE node.tenant = tenant
  RETURN node AS g, score
  UNION ALL
  WITH tenant
  WHERE $vector IS NOT NULL
  // Neo4j cannot plan a SEARCH for a variable that the other part of a UNION has too.
  MATCH (near:Engram)
  SEARCH near IN (
    VECTOR INDEX engram_embedding
    FOR $vector
    WHERE near.tenant = $tenant
    LIMIT $limit
  )
  RETURN near AS g, 0.0 AS score
}
WITH g, max(score) AS score
// use: recorded(g)
RETURN {
  id: g.id, kind: g.kind,
  session: head(COLLECT { MATCH (g)-[:SUMMARISES]->(s:Session) RETURN s.name }),
  summary: g.summary, members: g.members,
  evidence: COLLECT { MATCH (g)-[:EVIDENCE]->(e:Episode) RETURN e.id ORDER BY e.turn },
  method: g.method, recorded_at: g.recorded_at, topic: topic, decisions: decisions,
  open_questions: open_questions, valence: valence, novelty: novelty
} AS engram, score,
  CASE WHEN $vector IS NULL THEN 0.0 ELSE coalesce(1 - vector_distance(
    vector(g.embedding, vector_dimension_count($vector), FLOAT32), $vector, COSINE
  ), 0.0) END AS cosine
ORDER BY engram.id
