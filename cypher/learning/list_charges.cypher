// doc: List the spike trains and charges of episodes; for never stimulated ones only the turn.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// each: id STRING, own INTEGER, turns LIST<INTEGER>, strengths LIST<FLOAT>, tau FLOAT,
//   potential FLOAT, current FLOAT, turn INTEGER
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
WITH e
ORDER BY e.id
RETURN collect([
  e.id, e.turn, e.spike_turns, e.spike_strengths, e.tau, e.lif_v, e.lif_i, e.lif_turn
]) AS rows
