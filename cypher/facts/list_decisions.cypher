// doc: List decisions by id, about facts, and about the classes of predicates, in their order.
// mode: read
// params: tenant STRING, ids LIST<STRING>, facts LIST<STRING>, about_classes BOOLEAN
// each: id STRING, number INTEGER, recorded_at DATETIME, ruling STRING, fact STRING, other STRING,
//   relation STRING, predicate_class STRING, valid_from DATETIME, valid_to DATETIME,
//   undoes STRING, by STRING, why STRING
CYPHER 25
WITH $tenant AS tenant
CALL (tenant) {
  WHEN $about_classes THEN {
    MATCH (d:Decision)
    WHERE d.tenant = tenant AND d.number IS NOT NULL AND d.relation IS NOT NULL
    RETURN d
  }
  ELSE {
    UNWIND $ids AS id
    MATCH (d:Decision {id: id})
    WHERE d.tenant = tenant
    RETURN d
    UNION
    UNWIND $facts AS id
    MATCH (f:Fact {id: id})<-[:DECIDES]-(d:Decision)
    WHERE f.tenant = tenant
    RETURN d
  }
}
WITH d
ORDER BY d.number
RETURN collect([
  d.id, d.number, d.recorded_at, d.ruling, d.fact, d.other, d.relation, d.predicate_class,
  d.valid_from, d.valid_to, d.undoes, d.decided_by, d.why
]) AS rows
