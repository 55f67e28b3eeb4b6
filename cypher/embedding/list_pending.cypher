// doc: List nodes of all tenants that have a vector of this generation and none of the next.
// mode: read
// params: limit INTEGER
// returns: nodes LIST<STRING>
CYPHER 25
CALL () {
  MATCH (n:Episode)
  WHERE n.embedding IS NOT NULL AND n.embedding_1 IS NULL
  RETURN n
  UNION ALL
  MATCH (n:Passage)
  WHERE n.embedding IS NOT NULL AND n.embedding_1 IS NULL
  RETURN n
  UNION ALL
  MATCH (n:Concept)
  WHERE n.embedding IS NOT NULL AND n.embedding_1 IS NULL
  RETURN n
  UNION ALL
  MATCH (n:Fact)
  WHERE n.embedding IS NOT NULL AND n.embedding_1 IS NULL
  RETURN n
  UNION ALL
  MATCH (n:Engram)
  WHERE n.embedding IS NOT NULL AND n.embedding_1 IS NULL
  RETURN n
  UNION ALL
  MATCH (n:Item)
  WHERE n.embedding IS NOT NULL AND n.embedding_1 IS NULL
  RETURN n
}
WITH elementId(n) AS node
ORDER BY node
LIMIT $limit
RETURN collect(node) AS nodes
