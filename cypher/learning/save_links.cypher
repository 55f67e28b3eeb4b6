// doc: Store what was learned and counted between episodes, and compute the edges' weight anew.
// mode: write
// params: tenant STRING, now DATETIME, rows LIST<MAP>
// plan: Eager all ends are found before the first edge is made, a recall has at most ten pairs
CYPHER 25
UNWIND $rows AS row
MATCH (one:Episode {id: row.one})
WHERE one.tenant = $tenant AND NOT one:ArchivedEpisode
CALL (row) {
  MATCH (other:Episode {id: row.other})
  WHERE other.tenant = $tenant AND NOT other:ArchivedEpisode
  RETURN other
}
MERGE (one)-[r:SIMILAR]->(other)
ON CREATE SET r.family = 'association', r.created_at = $now
SET r.formula = 1, r.w_learned = row.learned, r.coactivations = row.coactivations,
  r.last_used = datetime({epochMillis: row.used_ms})
// use: weighed(r)
