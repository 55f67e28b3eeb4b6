// doc: Delete edges between concepts.
// mode: write
// params: tenant STRING, rows LIST<MAP>
// plan: Eager all edges are found before the first is deleted, chunks are small
CYPHER 25
UNWIND $rows AS row
MATCH (one:Concept {id: row.one})-[r:ASSOCIATED]->(other:Concept)
WHERE one.tenant = $tenant AND other.id = row.other
DELETE r
