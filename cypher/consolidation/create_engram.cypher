// doc: Store the engram of a session, or that of a cluster without one, if all of its members and
//   evidence are there.
// mode: write
// params: tenant STRING, session STRING, id STRING, summary STRING, count INTEGER,
//   members LIST<STRING>, evidence LIST<STRING>, method STRING, formula INTEGER, record MAP
// plan: Eager the session, the members and the evidence are found before the engram is made
CYPHER 25
CALL () {
  UNWIND $members + [id IN $evidence WHERE NOT id IN $members] AS id
  MATCH (e:Episode {id: id})
  WHERE e.tenant = $tenant
  RETURN collect(e) AS found
}
WITH found
WHERE size(found) = size($members) + size([id IN $evidence WHERE NOT id IN $members])
OPTIONAL MATCH (s:Session {tenant: $tenant, name: $session})
WITH found, s
WHERE $session IS NULL OR s IS NOT NULL
MERGE (g:Engram {id: $id})
ON CREATE SET
  g.tenant = $tenant, g.kind = CASE WHEN s IS NULL THEN 'cluster' ELSE 'session' END,
  g.summary = $summary, g.members = $count, g.method = $method, g.formula = $formula,
  g.recorded_at = datetime(), g += $record
WITH g, s, found, [e IN found WHERE e.id IN $members] + CASE WHEN s IS NULL THEN [] ELSE [s] END
  AS summarised
CALL (g, summarised) {
  UNWIND summarised AS n
  MERGE (g)-[r:SUMMARISES]->(n)
  ON CREATE SET r.family = 'abstraction', r.weight = 1.0, r.created_at = g.recorded_at
}
UNWIND found AS e
WITH g, e
WHERE e.id IN $evidence
MERGE (g)-[r:EVIDENCE]->(e)
ON CREATE SET r.family = 'provenance', r.weight = 1.0, r.created_at = g.recorded_at
