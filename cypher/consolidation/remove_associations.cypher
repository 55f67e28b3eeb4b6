// doc: Delete association edges; if wanted, only those without a part and without learning.
// mode: write
// params: tenant STRING, rows LIST<MAP>, only_empty BOOLEAN
// plan: Eager all edges are found before the first is deleted, chunks are small
CYPHER 25
UNWIND $rows AS row
// use: association(row)
WITH r
WHERE NOT $only_empty
  OR (coalesce(r.w_sim, 0.0) = 0.0 AND coalesce(r.w_lift, 0.0) = 0.0
    AND coalesce(r.w_learned, 0.0) = 0.0 AND coalesce(r.coactivations, 0) = 0)
DELETE r
