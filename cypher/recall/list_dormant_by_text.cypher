// doc: Count the cue's stems in the newest dormant episodes, one by one: no index holds them.
// mode: read
// params: tenant STRING, stems LIST<STRING>, scan INTEGER, limit INTEGER, session STRING,
//   speaker STRING, occurred_from DATETIME, occurred_before DATETIME
// each: id STRING, session STRING, ordinal INTEGER, score FLOAT
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
WITH e, ' ' + e.terms + ' ' AS terms
WITH e, toFloat(size([stem IN $stems WHERE terms CONTAINS ' ' + stem + ' '])) AS score
WHERE score > 0
WITH e, score
ORDER BY score DESC, e.turn
LIMIT $limit
RETURN collect([e.id, e.session, e.ordinal, score]) AS rows
