// doc: Delete the edges between concepts that have no part left and on which nothing was learned.
// mode: write
// params: tenant STRING, rows LIST<MAP>
// plan: Eager all edges are found before the first is deleted, chunks are small
CYPHER 25
UNWIND $rows AS row
MATCH (one:Concept {id: row.one})-[r:ASSOCIATED]->(other:Concept)
WHERE one.tenant = $tenant AND other.id = row.other
  AND coalesce(r.w_sim, 0.0) = 0.0 AND coalesce(r.w_lift, 0.0) = 0.0
  AND coalesce(r.w_learned, 0.0) = 0.0 AND coalesce(r.coactivations, 0) = 0
DELETE r
