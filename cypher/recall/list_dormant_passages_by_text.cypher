// doc: Count the cue's stems in the passages of the newest dormant episodes, one by one.
// mode: read
// params: tenant STRING, stems LIST<STRING>, scan INTEGER, limit INTEGER, session STRING,
//   speaker STRING, occurred_from DATETIME, occurred_before DATETIME
// each: passage STRING, episode STRING, session STRING, ordinal INTEGER, part INTEGER, score FLOAT
CYPHER 25
MATCH (e:DormantEpisode)
WHERE e.tenant = $tenant AND e.turn > 0
  AND ($session IS NULL OR e.session = $session)
  AND ($speaker IS NULL OR e.speaker = $speaker)
  AND ($occurred_from IS NULL OR e.occurred_at >= $occurred_from)
  AND ($occurred_before IS NULL OR e.occurred_at < $occurred_before)
WITH e
ORDER BY e.tenant DESC, e.turn DESC
LIMIT $scan
MATCH (e)-[:HAS_PASSAGE]->(p:Passage)
WITH e, p, ' ' + p.terms + ' ' AS terms
WITH e, p, toFloat(size([stem IN $stems WHERE terms CONTAINS ' ' + stem + ' '])) AS score
WHERE score > 0
WITH e, p, score
ORDER BY score DESC, e.turn, p.ordinal
LIMIT $limit
RETURN collect([p.id, e.id, e.session, e.ordinal, p.ordinal, score]) AS rows
