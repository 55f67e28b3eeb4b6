// doc: Store the rest of the learning on association edges, unless a recall added to it meanwhile.
// mode: write
// params: tenant STRING, rows LIST<MAP>
// plan: Eager all are compared before the first changes, chunks are small
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
WITH row, r
WHERE r.w_learned = row.was
SET r.w_learned = row.learned, r.weight = row.weight
