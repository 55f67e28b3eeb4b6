// doc: Join turns that follow each other in a session.
// mode: write
// params: tenant STRING, rows LIST<MAP>
// plan: CartesianProduct of the one tail and the one head that a unique key finds
CYPHER 25
UNWIND $rows AS row
MATCH (tail:Episode {id: row.tail})
WHERE tail.tenant = $tenant
WITH row, tail
MATCH (head:Episode {id: row.head})
WHERE head.tenant = $tenant
CREATE (tail)-[:NEXT {
  family: 'temporal', weight: row.weight, gap_days: row.gap_days, created_at: datetime()
}]->(head)
