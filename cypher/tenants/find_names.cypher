// doc: Find the names of a tenant and of a key that may act for it; null for what there is not.
// mode: read
// params: tenant STRING, key STRING
// returns: tenant STRING, key STRING
CYPHER 25
OPTIONAL MATCH (t:Tenant {id: $tenant})
OPTIONAL MATCH (k:ApiKey {id: $key})
WHERE k.tenant IN ['', $tenant]
RETURN t.name AS tenant, k.name AS key
