// doc: Search the text index; filters other than the tenant's cut its ranked hits.
// mode: read
// params: tenant STRING, query STRING, fetch INTEGER, limit INTEGER,
//   session STRING, speakers LIST<STRING>, occurred_from DATETIME, occurred_before DATETIME,
//   sessions LIST<STRING>, role STRING, metadata LIST<STRING>
// each: id STRING, session STRING, ordinal INTEGER, score FLOAT
CYPHER 25
CALL db.index.fulltext.queryNodes('episode_terms', $query, {limit: $fetch})
YIELD node, score
WHERE node.tenant = $tenant
  AND ($session IS NULL OR node.session = $session)
  AND ($speakers IS NULL OR node.speaker IN $speakers)
  AND ($occurred_from IS NULL OR node.occurred_at >= $occurred_from)
  AND ($occurred_before IS NULL OR node.occurred_at < $occurred_before)
  AND ($sessions IS NULL OR node.session IN $sessions)
  AND ($role IS NULL OR node.role = $role)
  AND all(entry IN $metadata
    WHERE node.metadata CONTAINS entry + ', ' OR node.metadata ENDS WITH entry + '}')
WITH node, score
ORDER BY score DESC, node.turn
LIMIT $limit
RETURN collect([node.id, node.session, node.ordinal, score]) AS rows
