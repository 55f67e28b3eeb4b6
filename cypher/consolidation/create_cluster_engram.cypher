// doc: Store the engram of a cluster, if all of its members are there.
// mode: write
// params: tenant STRING, id STRING, summary STRING, members LIST<STRING>, evidence LIST<STRING>,
//   method STRING, formula INTEGER
// plan: Eager the members are found before the engram is made
CYPHER 25
CALL () {
  UNWIND $members AS id
  MATCH (e:Episode {id: id})
  WHERE e.tenant = $tenant
  RETURN collect(e) AS found
}
WITH found
WHERE size(found) = size($members)
MERGE (g:Engram {id: $id})
ON CREATE SET
  g.tenant = $tenant, g.kind = 'cluster', g.summary = $summary, g.members = size(found),
  g.method = $method, g.formula = $formula, g.recorded_at = datetime()
WITH g, found
UNWIND found AS e
MERGE (g)-[of:SUMMARISES]->(e)
ON CREATE SET of.family = 'abstraction', of.weight = 1.0, of.created_at = g.recorded_at
WITH g, e
WHERE e.id IN $evidence
MERGE (g)-[from:EVIDENCE]->(e)
ON CREATE SET from.family = 'provenance', from.weight = 1.0, from.created_at = g.recorded_at
