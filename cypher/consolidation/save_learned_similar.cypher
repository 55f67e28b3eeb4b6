// doc: Give edges between episodes what is left of what was learned, unless more was meanwhile.
// mode: write
// params: tenant STRING, rows LIST<MAP>
// plan: Eager all are compared before the first changes, chunks are small
CYPHER 25
UNWIND $rows AS row
MATCH (one:Episode {id: row.one})-[r:SIMILAR]->(other:Episode)
WHERE one.tenant = $tenant AND other.id = row.other AND r.w_learned = row.was
SET r.w_learned = row.learned, r.weight = row.weight
