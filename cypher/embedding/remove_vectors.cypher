// doc: Remove vectors of the next generation, or those of this one from nodes that have both.
// mode: write
// params: next BOOLEAN, limit INTEGER
// returns: removed INTEGER
// plan: Eager all are found before the first changes
CYPHER 25
UNWIND ['Episode', 'Passage', 'Concept', 'Fact', 'Engram', 'Item'] AS label
MATCH (n:$(label))
WHERE n.embedding_1 IS NOT NULL AND ($next OR n.embedding IS NOT NULL)
WITH n
LIMIT $limit
FOREACH (unwanted IN CASE WHEN $next THEN [n] ELSE [] END | REMOVE unwanted.embedding_1)
FOREACH (outdated IN CASE WHEN $next THEN [] ELSE [n] END | REMOVE outdated.embedding)
RETURN count(n) AS removed
