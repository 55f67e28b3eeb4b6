// doc: Compare the passages of all episodes that pass filters with a vector, where no index has the filters.
// mode: read
// params: tenant STRING, vector VECTOR, limit INTEGER, role STRING, metadata LIST<STRING>
// each: passage STRING, episode STRING, session STRING, ordinal INTEGER, part INTEGER, score FLOAT
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn > 0 AND e:LiveEpisode
  // use: placed(e)
  AND ($role IS NULL OR e.role = $role)
  AND ($metadata IS NULL OR e.metadata IN $metadata)
MATCH (e)-[:HAS_PASSAGE]->(p:LivePassage)
WITH e, p, 1 - vector_distance(
    vector(p.embedding, vector_dimension_count($vector), FLOAT32), $vector, COSINE
  ) AS score
WHERE score IS NOT NULL
ORDER BY score DESC, e.turn, p.ordinal
LIMIT $limit
RETURN collect([p.id, e.id, nullIf(e.session, ''), e.ordinal, p.ordinal, score]) AS rows
