// doc: Set which strategies a tenant promoted and which runs in the shadow; null for none.
// mode: write
// params: tenant STRING, policy STRING
// returns: id STRING
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL
SET t.policy = $policy
RETURN t.id AS id
