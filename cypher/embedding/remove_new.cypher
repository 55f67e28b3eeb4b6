// doc: Remove vectors of the next generation, which is not wanted any more.
// mode: write
// params: limit INTEGER
// returns: removed INTEGER
// plan: Eager all are found before the first changes
CYPHER 25
CALL () {
  MATCH (n:Episode)
  WHERE n.embedding_1 IS NOT NULL
  RETURN n
  UNION ALL
  MATCH (n:Passage)
  WHERE n.embedding_1 IS NOT NULL
  RETURN n
  UNION ALL
  MATCH (n:Concept)
  WHERE n.embedding_1 IS NOT NULL
  RETURN n
  UNION ALL
  MATCH (n:Fact)
  WHERE n.embedding_1 IS NOT NULL
  RETURN n
  UNION ALL
  MATCH (n:Engram)
  WHERE n.embedding_1 IS NOT NULL
  RETURN n
  UNION ALL
  MATCH (n:Item)
  WHERE n.embedding_1 IS NOT NULL
  RETURN n
}
WITH n
LIMIT $limit
REMOVE n.embedding_1
RETURN count(n) AS removed
