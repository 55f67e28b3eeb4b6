// doc: Store vectors of the next generation, and remove those of nodes without words, which no search
//   finds; a node that changed meanwhile is left out, and numbers that are given are recorded.
// mode: write
// params: rows LIST<MAP>, done INTEGER, total INTEGER, is_first BOOLEAN
// plan: Eager all are found before the first changes
CYPHER 25
CALL () {
  MATCH (r:Reembedding {id: 'reembedding'})
  WHERE $total IS NOT NULL
  // A new attempt starts the clock of its rate.
  SET r.done = $done, r.total = $total,
    r.attempt_at = CASE WHEN $is_first THEN datetime() ELSE r.attempt_at END,
    r.attempt_done = CASE WHEN $is_first THEN $done ELSE r.attempt_done END
}
UNWIND $rows AS row
MATCH (n)
WHERE elementId(n) = row.node AND n.embedding IS NOT NULL AND n.embedding_1 IS NULL
  AND coalesce(n.id, toString(n.updated_at)) = row.stamp
FOREACH (wordless IN CASE WHEN row.vector IS NULL THEN [n] ELSE [] END |
  REMOVE wordless.embedding)
WITH n, row
WHERE row.vector IS NOT NULL
SET n.embedding_1 = row.vector
