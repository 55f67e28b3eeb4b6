// doc: Remove vectors of this generation from nodes that have one of the next.
// mode: write
// params: limit INTEGER
// returns: removed INTEGER
// plan: Eager all are found before the first changes
CYPHER 25
CALL () {
  MATCH (n:Episode)
  WHERE n.embedding IS NOT NULL AND n.embedding_1 IS NOT NULL
  RETURN n
  UNION ALL
  MATCH (n:Passage)
  WHERE n.embedding IS NOT NULL AND n.embedding_1 IS NOT NULL
  RETURN n
  UNION ALL
  MATCH (n:Concept)
  WHERE n.embedding IS NOT NULL AND n.embedding_1 IS NOT NULL
  RETURN n
  UNION ALL
  MATCH (n:Fact)
  WHERE n.embedding IS NOT NULL AND n.embedding_1 IS NOT NULL
  RETURN n
  UNION ALL
  MATCH (n:Engram)
  WHERE n.embedding IS NOT NULL AND n.embedding_1 IS NOT NULL
  RETURN n
  UNION ALL
  MATCH (n:Item)
  WHERE n.embedding IS NOT NULL AND n.embedding_1 IS NOT NULL
  RETURN n
}
WITH n
LIMIT $limit
REMOVE n.embedding
RETURN count(n) AS removed
