// doc: List the keys of facts.
// mode: read
// params: tenant STRING, facts LIST<STRING>
// each: fact STRING, key MAP
CYPHER 25
UNWIND $facts AS id
MATCH (f:Fact {id: id})
WHERE f.tenant = $tenant
WITH f
ORDER BY f.id
RETURN collect([
  f.id, {subject: f.subject, relation: f.relation, qualifier: f.qualifier}
]) AS rows
