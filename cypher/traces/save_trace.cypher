// doc: Store a trace with edges to the seeds it started from and the memories it woke.
// mode: write
// params: tenant STRING, id STRING, cue STRING, strategy STRING, created_at DATETIME,
//   payload STRING, seeds LIST<MAP>, hits LIST<MAP>
// plan: Eager the seeds are found before edges to them are made, a few dozen rows
CYPHER 25
MATCH (owner:Tenant {id: $tenant})
// Locks the owner, so that an erasure either sees this trace or prevents it.
SET owner.locked_at = datetime()
WITH owner
WHERE owner.erasing IS NULL
CREATE (t:Trace {
  id: $id, tenant: $tenant, cue: $cue, strategy: $strategy, created_at: $created_at,
  recorded_at: $created_at, payload: $payload
})
WITH t
CALL (t) {
  UNWIND $seeds AS seed
  CALL (seed) {
    MATCH (n:Episode {id: seed.node})
    RETURN n
    UNION
    MATCH (n:Concept {id: seed.node})
    RETURN n
  }
  WITH t, seed, n
  WHERE n.tenant = $tenant
  CREATE (t)-[:SEEDED {
    family: 'provenance', weight: seed.weight, energy: seed.energy, stream: seed.stream,
    created_at: $created_at
  }]->(n)
}
CALL (t) {
  UNWIND $hits AS hit
  MATCH (e:Episode {id: hit.episode})
  WHERE e.tenant = $tenant
  CREATE (t)-[:WOKE {
    family: 'provenance', weight: hit.weight, rank: hit.rank, score: hit.score,
    created_at: $created_at
  }]->(e)
}
