// doc: Store vectors of the next generation; a node that changed meanwhile is left out.
// mode: write
// params: rows LIST<MAP>
CYPHER 25
UNWIND $rows AS row
MATCH (n)
WHERE elementId(n) = row.node AND n.embedding IS NOT NULL AND n.embedding_1 IS NULL
  AND coalesce(n.id, toString(n.updated_at)) = row.stamp
CALL db.create.setNodeVectorProperty(n, 'embedding_1', row.vector)
