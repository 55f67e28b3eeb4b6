// doc: Store traces with edges to the seeds they started from and the memories they woke, and add
//   their evidence to the scale of the tenant.
// mode: write
// params: tenant STRING, traces LIST<MAP>, sums LIST<FLOAT>, many INTEGER
// returns: pending INTEGER
// plan: Eager the seeds are found before edges to them are made, a few dozen rows a trace
CYPHER 25
MATCH (owner:Tenant {id: $tenant})
// Locks the owner, so that an erasure either sees these traces or prevents them.
SET owner.locked_at = datetime()
WITH owner
// Of a node deleted while this waited nothing is set, and every property is null.
WHERE owner.locked_at IS NOT NULL AND owner.erasing IS NULL
// From `many` recalls on, the older ones count half.
WITH owner, coalesce(owner.scale, [place IN $sums | 0.0]) AS scale
WITH owner, scale, CASE WHEN scale[0] >= $many THEN 0.5 ELSE 1.0 END AS share
SET owner.scale = [place IN range(0, size($sums) - 1) | share * scale[place] + $sums[place]]
WITH owner
UNWIND $traces AS trace
CREATE (t:Trace {
  id: trace.id, tenant: $tenant, cue: trace.cue, strategy: trace.strategy,
  created_at: trace.created_at, recorded_at: trace.created_at, payload: trace.payload,
  refused: trace.refused, verdict: trace.verdict, confidence: trace.confidence,
  pending_since: CASE WHEN trace.created_at >= owner.learning_since THEN trace.created_at END
})
WITH t, trace
CALL (t, trace) {
  UNWIND trace.seeds AS seed
  CALL (seed) {
    MATCH (n:Episode {id: seed.node})
    RETURN n
    UNION
    MATCH (n:Concept {id: seed.node})
    RETURN n
    UNION
    MATCH (n:Fact {id: seed.node})
    RETURN n
  }
  WITH t, trace, seed, n
  WHERE n.tenant = $tenant
  CREATE (t)-[:SEEDED {
    family: 'provenance', weight: seed.weight, energy: seed.energy, stream: seed.stream,
    created_at: trace.created_at
  }]->(n)
}
CALL (t, trace) {
  UNWIND trace.hits AS hit
  MATCH (e:Episode {id: hit.episode})
  WHERE e.tenant = $tenant
  CREATE (t)-[:WOKE {
    family: 'provenance', weight: hit.weight, rank: hit.rank, score: hit.score,
    created_at: trace.created_at
  }]->(e)
}
RETURN count(t.pending_since) AS pending
