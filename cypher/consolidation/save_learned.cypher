// doc: Store the rest of the learning on association edges, unless a recall added to it meanwhile.
// mode: write
// params: tenant STRING, rows LIST<MAP>
// plan: Eager all are compared before the first changes, chunks are small
CYPHER 25
UNWIND $rows AS row
// use: association(row)
WITH row, r
WHERE r.w_learned = row.was
SET r.w_learned = row.learned, r.weight = row.weight
