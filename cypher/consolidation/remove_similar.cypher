// doc: Delete edges between episodes.
// mode: write
// params: tenant STRING, rows LIST<MAP>
// plan: Eager all edges are found before the first is deleted, chunks are small
CYPHER 25
UNWIND $rows AS row
MATCH (one:Episode {id: row.one})-[r:SIMILAR]->(other:Episode)
WHERE one.tenant = $tenant AND other.id = row.other
DELETE r
