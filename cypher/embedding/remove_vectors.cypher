// doc: Remove vectors of the next generation, or those of this one from nodes that have both.
// mode: write
// params: next BOOLEAN, limit INTEGER
// returns: removed INTEGER
// plan: Eager all are found before the first changes
CYPHER 25
CALL () {
  MATCH (n:Episode)
  WHERE n.embedding_1 IS NOT NULL AND ($next OR n.embedding IS NOT NULL)
  RETURN n
  UNION ALL
  MATCH (n:Passage)
  WHERE n.embedding_1 IS NOT NULL AND ($next OR n.embedding IS NOT NULL)
  RETURN n
  UNION ALL
  MATCH (n:Concept)
  WHERE n.embedding_1 IS NOT NULL AND ($next OR n.embedding IS NOT NULL)
  RETURN n
  UNION ALL
  MATCH (n:Fact)
  WHERE n.embedding_1 IS NOT NULL AND ($next OR n.embedding IS NOT NULL)
  RETURN n
  UNION ALL
  MATCH (n:Engram)
  WHERE n.embedding_1 IS NOT NULL AND ($next OR n.embedding IS NOT NULL)
  RETURN n
  UNION ALL
  MATCH (n:Item)
  WHERE n.embedding_1 IS NOT NULL AND ($next OR n.embedding IS NOT NULL)
  RETURN n
}
WITH n
LIMIT $limit
FOREACH (unwanted IN CASE WHEN $next THEN [n] ELSE [] END | REMOVE unwanted.embedding_1)
FOREACH (outdated IN CASE WHEN $next THEN [] ELSE [n] END | REMOVE outdated.embedding)
RETURN count(n) AS removed
