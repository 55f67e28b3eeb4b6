// doc: Compare the passages of all episodes that pass filters with a vector, where no index has the filters.
// mode: read
// params: tenant STRING, vector VECTOR, limit INTEGER,
//   session STRING, speakers LIST<STRING>, occurred_from DATETIME, occurred_before DATETIME,
//   sessions LIST<STRING>, role STRING, metadata LIST<STRING>
// each: passage STRING, episode STRING, session STRING, ordinal INTEGER, part INTEGER, score FLOAT
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn > 0 AND e:LiveEpisode
  AND ($session IS NULL OR e.session = $session)
  AND ($speakers IS NULL OR e.speaker IN $speakers)
  AND ($occurred_from IS NULL OR e.occurred_at >= $occurred_from)
  AND ($occurred_before IS NULL OR e.occurred_at < $occurred_before)
  AND ($sessions IS NULL OR e.session IN $sessions)
  AND ($role IS NULL OR e.role = $role)
  AND all(entry IN $metadata
    WHERE e.metadata CONTAINS entry + ', ' OR e.metadata ENDS WITH entry + '}')
MATCH (e)-[:HAS_PASSAGE]->(p:LivePassage)
WITH e, p, 1 - vector_distance(
    vector(p.embedding, vector_dimension_count($vector), FLOAT32), $vector, COSINE
  ) AS score
WHERE score IS NOT NULL
ORDER BY score DESC, e.turn, p.ordinal
LIMIT $limit
RETURN collect([p.id, e.id, e.session, e.ordinal, p.ordinal, score]) AS rows
