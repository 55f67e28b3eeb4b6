// doc: List the keys of facts.
// mode: read
// params: tenant STRING, facts LIST<STRING>
// each: fact STRING, subject STRING, relation STRING, qualifier STRING
CYPHER 25
UNWIND $facts AS id
MATCH (f:Fact {id: id})
WHERE f.tenant = $tenant
WITH f
ORDER BY f.id
RETURN collect([f.id, f.subject, f.relation, f.qualifier]) AS rows
