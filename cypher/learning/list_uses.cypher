// doc: List how episodes were used; what was never recalled has only the time it is of.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// returns: id STRING, occurred_ms INTEGER, recent_ms LIST<INTEGER>, count INTEGER,
//   first_ms INTEGER, stability FLOAT, stability_ms INTEGER, working FLOAT, lasting FLOAT,
//   chain_ms INTEGER, recalls INTEGER
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
RETURN e.id AS id, e.occurred_at.epochMillis AS occurred_ms, e.access_recent AS recent_ms,
  e.access_count AS count, e.first_access_at AS first_ms, e.stability AS stability,
  e.stability_at AS stability_ms, e.r1 AS working, e.r2 AS lasting, e.chain_at AS chain_ms,
  e.recall_count AS recalls
ORDER BY id
