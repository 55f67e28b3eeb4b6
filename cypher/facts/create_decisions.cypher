// doc: Append decisions, joined to the facts they are about.
// mode: write
// params: tenant STRING, rows LIST<MAP>
CYPHER 25
UNWIND $rows AS row
CREATE (d:Decision {
  id: row.id, tenant: $tenant, number: row.number, recorded_at: row.recorded_at,
  ruling: row.ruling, fact: row.fact, other: row.other, relation: row.relation,
  predicate_class: row.predicate_class, valid_from: row.valid_from, valid_to: row.valid_to,
  undoes: row.undoes, decided_by: row.decided_by, why: row.why
})
WITH d, row
UNWIND row.facts AS id
MATCH (f:Fact {id: id})
WHERE f.tenant = $tenant
CREATE (d)-[:DECIDES {family: 'provenance', weight: 1.0, created_at: d.recorded_at}]->(f)
