// doc: Store how episodes were used, and the spike trains and charges of episodes.
// mode: write
// params: tenant STRING, uses LIST<MAP>, charges LIST<MAP>
CYPHER 25
CALL () {
  UNWIND $uses AS row
  MATCH (e:Episode {id: row.id})
  WHERE e.tenant = $tenant AND NOT e:ArchivedEpisode
  SET e.access_recent = row.recent_ms, e.access_count = row.count,
    e.first_access_at = row.first_ms, e.stability = row.stability,
    e.stability_at = row.stability_ms, e.r1 = row.working, e.r2 = row.lasting,
    e.chain_at = row.chain_ms, e.recall_count = row.recalls
}
CALL () {
  UNWIND $charges AS row
  MATCH (e:Episode {id: row.id})
  WHERE e.tenant = $tenant AND NOT e:ArchivedEpisode
  SET e.spike_turns = row.turns, e.spike_strengths = row.strengths, e.tau = row.tau,
    e.lif_v = row.potential, e.lif_i = row.current, e.lif_turn = row.turn
}
