// doc: Search the text index of passages; filters other than the tenant's cut its ranked hits.
// mode: read
// params: tenant STRING, query STRING, fetch INTEGER, limit INTEGER,
//   session STRING, speakers LIST<STRING>, occurred_from DATETIME, occurred_before DATETIME,
//   sessions LIST<STRING>, role STRING, metadata LIST<STRING>
// each: passage STRING, episode STRING, session STRING, ordinal INTEGER, part INTEGER, score FLOAT
CYPHER 25
CALL db.index.fulltext.queryNodes('passage_terms', $query, {limit: $fetch})
YIELD node AS p, score
WHERE p.tenant = $tenant
  AND ($session IS NULL OR p.session = $session)
  AND ($speakers IS NULL OR p.speaker IN $speakers)
  AND ($occurred_from IS NULL OR p.occurred_at >= $occurred_from)
  AND ($occurred_before IS NULL OR p.occurred_at < $occurred_before)
  AND ($sessions IS NULL OR p.session IN $sessions)
  AND ($role IS NULL AND $metadata = [] OR EXISTS {
    MATCH (p)<-[:HAS_PASSAGE]-(e:Episode)
    WHERE ($role IS NULL OR e.role = $role)
      AND all(entry IN $metadata
        WHERE e.metadata CONTAINS entry + ', ' OR e.metadata ENDS WITH entry + '}')
  })
WITH p, score
ORDER BY score DESC, p.turn, p.ordinal
LIMIT $limit
MATCH (p)<-[:HAS_PASSAGE]-(e:Episode)
WITH p, e, score
ORDER BY score DESC, p.turn, p.ordinal
RETURN collect([p.id, e.id, e.session, e.ordinal, p.ordinal, score]) AS rows
