// doc: Remove the vectors of nodes without words, which no search finds.
// mode: write
// params: rows LIST<MAP>
CYPHER 25
UNWIND $rows AS row
MATCH (n)
WHERE elementId(n) = row.node AND coalesce(n.id, toString(n.updated_at)) = row.stamp
REMOVE n.embedding
