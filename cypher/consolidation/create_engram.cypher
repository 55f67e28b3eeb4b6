// doc: Store the engram of a session, if all of its evidence is there, and take the mark away.
// mode: write
// params: tenant STRING, session STRING, id STRING, summary STRING, members INTEGER,
//   evidence LIST<STRING>, method STRING, formula INTEGER
// plan: Eager the session and the evidence are found before the engram is made
CYPHER 25
MATCH (s:Session {tenant: $tenant, name: $session})
CALL (s) {
  UNWIND $evidence AS id
  MATCH (e:Episode {id: id})
  WHERE e.tenant = $tenant
  RETURN collect(e) AS found
}
WITH s, found
WHERE size(found) = size($evidence)
CREATE (g:Engram {
  id: $id, tenant: $tenant, kind: 'session', summary: $summary, members: $members,
  method: $method, formula: $formula, recorded_at: datetime()
})
CREATE (g)-[:SUMMARISES {family: 'abstraction', weight: 1.0, created_at: g.recorded_at}]->(s)
WITH g, found
UNWIND found AS e
CREATE (g)-[:EVIDENCE {family: 'provenance', weight: 1.0, created_at: g.recorded_at}]->(e)
