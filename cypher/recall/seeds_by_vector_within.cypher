// doc: Search the vector index with every filter inside it, and score again exactly.
// mode: read
// params: tenant STRING, vector VECTOR, fetch INTEGER, limit INTEGER,
//   session_from STRING, session_to STRING, speaker_from STRING, speaker_to STRING,
//   occurred_from DATETIME, occurred_before DATETIME
// each: id STRING, session STRING, ordinal INTEGER, score FLOAT
CYPHER 25
MATCH (e:LiveEpisode)
SEARCH e IN (
  VECTOR INDEX episode_embedding
  FOR $vector
  WHERE e.tenant = $tenant
    AND e.session >= $session_from AND e.session <= $session_to
    AND e.speaker >= $speaker_from AND e.speaker <= $speaker_to
    AND e.occurred_at >= $occurred_from AND e.occurred_at < $occurred_before
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
