// doc: Find the settings that a tenant has set itself; null if it has none.
// mode: read
// params: tenant STRING
// returns: settings STRING
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL
RETURN t.settings AS settings
