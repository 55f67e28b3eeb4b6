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
SET r.weight = 1 - (1 - coalesce(r.w_sim, 0.0)) * (1 - coalesce(r.w_lift, 0.0))
  * (1 - r.w_learned * CASE
    WHEN r.last_used > $now THEN 1.0
    ELSE (1 + ($now.epochMillis - r.last_used.epochMillis) / 86400000.0) ^ -0.2
  END)
