// doc: List the decisions about facts, in the order they were made.
// mode: read
// params: tenant STRING, facts LIST<STRING>
// each: id STRING, number INTEGER, recorded_at DATETIME, ruling STRING, fact STRING, other STRING,
//   relation STRING, predicate_class STRING, valid_from DATETIME, valid_to DATETIME,
//   undoes STRING, decided_by STRING, why STRING
CYPHER 25
UNWIND $facts AS id
MATCH (f:Fact {id: id})<-[:DECIDES]-(d:Decision)
WHERE f.tenant = $tenant
WITH DISTINCT d
ORDER BY d.number
RETURN collect([
  d.id, d.number, d.recorded_at, d.ruling, d.fact, d.other, d.relation, d.predicate_class,
  d.valid_from, d.valid_to, d.undoes, d.decided_by, d.why
]) AS rows
