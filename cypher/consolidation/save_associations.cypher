// doc: Give association edges their part by nearness or by mentions, and compute their weight anew.
// mode: write
// params: tenant STRING, now DATETIME, rows LIST<MAP>
// plan: Eager all ends are found before the first edge is made, chunks are small
CYPHER 25
UNWIND $rows AS row
CALL (row) {
  WHEN row.edge = 'SIMILAR' THEN {
    MATCH (one:Episode {id: row.one})
    WHERE one.tenant = $tenant AND NOT one:ArchivedEpisode
    CALL (row) {
      MATCH (other:Episode {id: row.other})
      WHERE other.tenant = $tenant AND NOT other:ArchivedEpisode
      RETURN other
    }
    MERGE (one)-[r:SIMILAR]->(other)
    ON CREATE SET r.family = 'association', r.created_at = $now
    SET r.formula = 1, r.w_sim = row.part
    RETURN r
  }
  WHEN row.edge = 'ASSOCIATED' THEN {
    MATCH (one:Concept {id: row.one})
    WHERE one.tenant = $tenant
    CALL (row) {
      MATCH (other:Concept {id: row.other})
      WHERE other.tenant = $tenant
      RETURN other
    }
    MERGE (one)-[r:ASSOCIATED]->(other)
    ON CREATE SET r.family = 'association', r.created_at = $now
    SET r.formula = 1, r.w_lift = row.part
    RETURN r
  }
}
// use: weighed(r)
