// doc: List the spike trains and charges of episodes; for never stimulated ones only the turn.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// each: id STRING, own INTEGER, charge MAP
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
WITH e
ORDER BY e.id
RETURN collect([
  e.id, e.turn,
  CASE WHEN e.spike_turns IS NOT NULL THEN {
    turns: e.spike_turns, strengths: e.spike_strengths, tau: e.tau, potential: e.lif_v,
    current: e.lif_i, turn: e.lif_turn
  } END
]) AS rows
