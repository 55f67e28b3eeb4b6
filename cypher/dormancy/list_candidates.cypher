// doc: List the scores of live episodes that may become dormant, by turn, from a cursor on.
// mode: read
// params: tenant STRING, before DATETIME, after_turn INTEGER, limit INTEGER
// each: id STRING, turn INTEGER, occurred_ms INTEGER, importance FLOAT,
//   prior FLOAT, stability FLOAT, used_ms INTEGER, working FLOAT, lasting FLOAT,
//   chain_ms INTEGER, woken_ms INTEGER, kind STRING,
//   facts LIST<LIST<ANY>>
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn > $after_turn AND e:LiveEpisode AND e.pinned IS NULL
  AND e.recorded_at < $before
WITH e
ORDER BY e.tenant, e.turn
LIMIT $limit
// use: important(e)
RETURN collect([
  e.id, e.turn, e.occurred_at.epochMillis,
  importance, e.prior,
  e.stability, e.stability_at, e.r1, e.r2, e.chain_at,
  COLLECT {
    MATCH (e)<-[:WOKE]-(t:Trace)
    RETURN t.created_at.epochMillis AS at
    ORDER BY at DESC
    LIMIT 1
  }[0],
  // use: kind(e)
  ,
  COLLECT {
    MATCH (e)<-[:EVIDENCE]-(f:LiveFact)
    RETURN [f.id, COUNT { (f)-[:EVIDENCE]->(:LiveEpisode) }]
  }
]) AS rows
