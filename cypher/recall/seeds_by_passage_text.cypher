// doc: Search the text index of passages; filters other than the tenant's cut its ranked hits.
// mode: read
// params: tenant STRING, query STRING, fetch INTEGER, limit INTEGER,
//   session STRING, speaker STRING, occurred_from DATETIME, occurred_before DATETIME
// each: passage STRING, episode STRING, session STRING, ordinal INTEGER, part INTEGER, score FLOAT
CYPHER 25
CALL db.index.fulltext.queryNodes('passage_terms', $query, {limit: $fetch})
YIELD node AS p, score
WHERE p.tenant = $tenant
  AND ($session IS NULL OR p.session = $session)
  AND ($speaker IS NULL OR p.speaker = $speaker)
  AND ($occurred_from IS NULL OR p.occurred_at >= $occurred_from)
  AND ($occurred_before IS NULL OR p.occurred_at < $occurred_before)
WITH p, score
ORDER BY score DESC, p.turn, p.ordinal
LIMIT $limit
MATCH (p)<-[:HAS_PASSAGE]-(e:Episode)
WITH p, e, score
ORDER BY score DESC, p.turn, p.ordinal
RETURN collect([p.id, e.id, e.session, e.ordinal, p.ordinal, score]) AS rows
