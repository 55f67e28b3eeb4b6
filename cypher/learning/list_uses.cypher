// doc: List the uses of episodes, and what feedback changed; for never recalled ones only their
//   own time.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// each: id STRING, occurred_ms INTEGER, salience FLOAT, trust_change FLOAT, use MAP
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
WITH e,
  CASE WHEN e.reliability_0 IS NULL THEN 0.0
    ELSE (4 * e.reliability_0 + e.reward_pos) / (4.0 + e.reward_pos + e.reward_neg)
      - e.reliability_0
  END AS trust_change
ORDER BY e.id
RETURN collect([
  e.id, e.occurred_at.epochMillis, e.salience, trust_change,
  CASE WHEN e.access_recent IS NOT NULL THEN {
    recent_ms: e.access_recent, count: e.access_count, first_ms: e.first_access_at,
    stability: e.stability, stability_ms: e.stability_at, working: e.r1, lasting: e.r2,
    chain_ms: e.chain_at, recalls: e.recall_count, salience: e.salience,
    trust_change: trust_change
  } END
]) AS rows
