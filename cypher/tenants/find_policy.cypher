// doc: Find which strategies a tenant promoted and which runs in the shadow.
// mode: read
// params: tenant STRING
// returns: policy STRING
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL
RETURN t.policy AS policy
