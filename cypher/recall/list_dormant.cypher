// doc: Compare the newest dormant episodes with a vector or count a cue's stems in them, one by one.
// mode: read
// params: tenant STRING, vector VECTOR, stems LIST<STRING>, scan INTEGER, limit INTEGER,
//   session STRING, speakers LIST<STRING>, occurred_from DATETIME, occurred_before DATETIME,
//   sessions LIST<STRING>, role STRING, metadata LIST<STRING>
// each: id STRING, session STRING, ordinal INTEGER, score FLOAT
CYPHER 25
MATCH (e:DormantEpisode)
WHERE e.tenant = $tenant AND e.turn > 0
  AND ($session IS NULL OR e.session = $session)
  AND ($speakers IS NULL OR e.speaker IN $speakers)
  AND ($occurred_from IS NULL OR e.occurred_at >= $occurred_from)
  AND ($occurred_before IS NULL OR e.occurred_at < $occurred_before)
  AND ($sessions IS NULL OR e.session IN $sessions)
  AND ($role IS NULL OR e.role = $role)
  AND all(entry IN $metadata
    WHERE e.metadata CONTAINS entry + ', ' OR e.metadata ENDS WITH entry + '}')
WITH e
ORDER BY e.tenant DESC, e.turn DESC
LIMIT $scan
WITH e, CASE WHEN $vector IS NULL THEN ' ' + e.terms + ' ' END AS terms
WITH e, CASE
  WHEN $vector IS NULL
  THEN nullIf(size([stem IN $stems WHERE terms CONTAINS ' ' + stem + ' ']) * 1.0, 0.0)
  ELSE 1 - vector_distance(
    vector(e.embedding, vector_dimension_count($vector), FLOAT32), $vector, COSINE
  )
END AS score
// An episode that was archived a moment ago has no vector and no stems.
WHERE score IS NOT NULL
ORDER BY score DESC, e.turn
LIMIT $limit
RETURN collect([e.id, e.session, e.ordinal, score]) AS rows
