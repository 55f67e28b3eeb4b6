// doc: Delete association edges; if wanted, only those without a part and without learning.
// mode: write
// params: tenant STRING, rows LIST<MAP>, only_empty BOOLEAN
// plan: Eager all edges are found before the first is deleted, chunks are small
CYPHER 25
UNWIND $rows AS row
CALL (row) {
  WHEN row.edge = 'SIMILAR' THEN {
    MATCH (one:Episode {id: row.one})-[r:SIMILAR]->(other:Episode)
    WHERE one.tenant = $tenant AND other.id = row.other
    RETURN r
  }
  WHEN row.edge = 'ASSOCIATED' THEN {
    MATCH (one:Concept {id: row.one})-[r:ASSOCIATED]->(other:Concept)
    WHERE one.tenant = $tenant AND other.id = row.other
    RETURN r
  }
}
WITH r
WHERE NOT $only_empty
  OR (coalesce(r.w_sim, 0.0) = 0.0 AND coalesce(r.w_lift, 0.0) = 0.0
    AND coalesce(r.w_learned, 0.0) = 0.0 AND coalesce(r.coactivations, 0) = 0)
DELETE r
