// doc: Restore the edges of episodes; an edge without its other end is left out.
// mode: write
// params: tenant STRING, rows LIST<MAP>
// plan: Eager all ends are found before the first edge is made, batches are small
CYPHER 25
UNWIND $rows AS row
MATCH (tail:Episode {id: row.tail})
WHERE tail.tenant = $tenant
CALL (row) {
  MATCH (head:Episode {id: row.head})
  WHERE head.tenant = $tenant
  RETURN head
}
MERGE (tail)-[r:$(row.type)]->(head)
SET r = row.properties
