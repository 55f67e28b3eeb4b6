// doc: List the facts that have a name at an end, by id, from a cursor on.
// mode: read
// params: tenant STRING, name STRING, relation STRING, after STRING, limit INTEGER
// returns: id STRING, subject STRING, relation STRING, qualifier STRING
CYPHER 25
CALL () {
  MATCH (f:Fact {tenant: $tenant, subject: $name})
  WHERE f.relation IS NOT NULL
  RETURN f
  UNION
  MATCH (n:Name {tenant: $tenant, normalised: $name})<-[:OBJECT]-(f:Fact)
  RETURN f
}
WITH f
WHERE f.id > $after AND ($relation IS NULL OR f.relation = $relation)
RETURN f.id AS id, f.subject AS subject, f.relation AS relation, f.qualifier AS qualifier
ORDER BY id
LIMIT $limit
