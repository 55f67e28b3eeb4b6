// doc: Create facts, joined to the concepts at their ends, which they relate to each other.
// mode: write
// params: tenant STRING, rows LIST<MAP>
CYPHER 25
UNWIND $rows AS row
OPTIONAL MATCH (s:Name {tenant: $tenant, normalised: row.subject_concept})
OPTIONAL MATCH (o:Name {tenant: $tenant, normalised: row.object_concept})
WITH row, s, o, datetime() AS recorded_at
CREATE (f:Fact:LiveFact {
  id: row.id, tenant: $tenant, subject: row.subject, predicate: row.predicate,
  object: row.object, statement: row.statement, recorded_at: recorded_at,
  relation: row.relation, qualifier: row.qualifier, negated: row.negated,
  embedding: row.vector
})
FOREACH (subject IN CASE WHEN s IS NULL THEN [] ELSE [s] END |
  CREATE (f)-[:SUBJECT {family: 'abstraction', weight: 1.0, created_at: recorded_at}]->(subject))
FOREACH (object IN CASE WHEN o IS NULL THEN [] ELSE [o] END |
  CREATE (f)-[:OBJECT {family: 'abstraction', weight: 1.0, created_at: recorded_at}]->(object))
FOREACH (_ IN CASE WHEN s IS NULL OR o IS NULL OR s = o THEN [] ELSE [1] END |
  CREATE (s)-[:RELATED {
    family: 'association', weight: 1.0, predicate: row.predicate, fact: row.id,
    created_at: recorded_at
  }]->(o))
