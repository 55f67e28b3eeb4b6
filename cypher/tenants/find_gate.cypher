// doc: Find a tenant's own gate.
// mode: read
// params: tenant STRING
// returns: gate STRING
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL
RETURN t.gate AS gate
