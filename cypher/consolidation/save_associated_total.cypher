// doc: Record with which total every lift of a tenant was computed.
// mode: write
// params: tenant STRING, total INTEGER
CYPHER 25
MATCH (t:Tenant {id: $tenant})
SET t.associated_total = $total
