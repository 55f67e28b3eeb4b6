// doc: Find what a fact may contradict.
// mode: read
// params: tenant STRING, id STRING
// returns: subject STRING, relation STRING, qualifier STRING
CYPHER 25
MATCH (f:Fact {id: $id})
WHERE f.tenant = $tenant
RETURN f.subject AS subject, f.relation AS relation, f.qualifier AS qualifier
