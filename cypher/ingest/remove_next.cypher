// doc: Part turns that no longer follow each other.
// mode: write
// params: tenant STRING, rows LIST<MAP>
// plan: Eager all edges are found before the first is deleted, batches are small
CYPHER 25
UNWIND $rows AS row
MATCH (tail:Episode {id: row.tail})-[r:NEXT]->(head:Episode)
WHERE tail.tenant = $tenant AND head.id = row.head
DELETE r
