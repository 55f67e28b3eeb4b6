// doc: Store the spike trains and charges of episodes.
// mode: write
// params: tenant STRING, rows LIST<MAP>
CYPHER 25
UNWIND $rows AS row
MATCH (e:Episode {id: row.id})
WHERE e.tenant = $tenant AND NOT e:ArchivedEpisode
SET e.spike_turns = row.turns, e.spike_strengths = row.strengths, e.tau = row.tau,
  e.lif_v = row.potential, e.lif_i = row.current, e.lif_turn = row.turn
