// doc: Search the vector index of passages with every filter inside it, and score again exactly.
// mode: read
// params: tenant STRING, vector VECTOR, fetch INTEGER, limit INTEGER,
//   session_from STRING, session_to STRING, speaker_from STRING, speaker_to STRING,
//   occurred_from DATETIME, occurred_before DATETIME
// each: passage STRING, episode STRING, session STRING, ordinal INTEGER, part INTEGER, score FLOAT
CYPHER 25
MATCH (p:LivePassage)
SEARCH p IN (
  VECTOR INDEX passage_embedding
  FOR $vector
  WHERE p.tenant = $tenant
    AND p.session >= $session_from AND p.session <= $session_to
    AND p.speaker >= $speaker_from AND p.speaker <= $speaker_to
    AND p.occurred_at >= $occurred_from AND p.occurred_at < $occurred_before
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
