// doc: Keep the tenant's own classes of predicates, and mark the facts they concern.
// mode: write
// params: tenant STRING, classes STRING, relation STRING
CYPHER 25
MATCH (t:Tenant {id: $tenant})
SET t.classes = $classes
WITH t
MATCH (f:Fact)
WHERE f.tenant = $tenant AND f.relation = $relation
SET f.touched = true
