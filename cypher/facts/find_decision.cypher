// doc: Find a decision.
// mode: read
// params: tenant STRING, id STRING
// returns: id STRING, number INTEGER, recorded_at DATETIME, ruling STRING, fact STRING,
//   other STRING, relation STRING, predicate_class STRING, valid_from DATETIME,
//   valid_to DATETIME, undoes STRING, decided_by STRING, why STRING
CYPHER 25
MATCH (d:Decision {id: $id})
WHERE d.tenant = $tenant
RETURN d.id AS id, d.number AS number, d.recorded_at AS recorded_at, d.ruling AS ruling,
  d.fact AS fact, d.other AS other, d.relation AS relation,
  d.predicate_class AS predicate_class, d.valid_from AS valid_from, d.valid_to AS valid_to,
  d.undoes AS undoes, d.decided_by AS decided_by, d.why AS why
