// doc: Search the text index for phrases in which users tell about themselves, and list for each
//   query the newest live messages; a message without a role counts if its speaker is wanted or
//   has no name.
// mode: read
// params: tenant STRING, queries LIST<STRING>, speakers LIST<STRING>, fetch INTEGER, limit INTEGER
// returns: id STRING
CYPHER 25
UNWIND $queries AS query
CALL (query) {
  CALL db.index.fulltext.queryNodes('episode_terms', query, {limit: $fetch})
  YIELD node
  WHERE node.tenant = $tenant AND node.title IS NULL
    AND (node.role = 'user'
      OR (node.role IS NULL AND ($speakers IS NOT NULL OR node.speaker IS NULL)))
    AND ($speakers IS NULL OR node.speaker IN $speakers)
    AND coalesce(node.expires_at > datetime(), true)
  WITH node
  ORDER BY node.occurred_at DESC, node.turn DESC
  LIMIT $limit
  RETURN node.id AS id
}
RETURN DISTINCT id
ORDER BY id
LIMIT size($queries) * $limit
