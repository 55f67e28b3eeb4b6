// doc: Note that the tenant has facts with a place in time.
// mode: write
// params: tenant STRING
CYPHER 25
MATCH (t:Tenant {id: $tenant})
SET t.timed = true
