// doc: List the uses of episodes; for never recalled ones only their own time.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// each: id STRING, occurred_ms INTEGER, recent_ms LIST<INTEGER>, count INTEGER,
//   first_ms INTEGER, stability FLOAT, stability_ms INTEGER, working FLOAT, lasting FLOAT,
//   chain_ms INTEGER, recalls INTEGER, salience FLOAT
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
WITH e
ORDER BY e.id
RETURN collect([
  e.id, e.occurred_at.epochMillis, e.access_recent, e.access_count, e.first_access_at,
  e.stability, e.stability_at, e.r1, e.r2, e.chain_at, e.recall_count,
  e.salience
]) AS rows
