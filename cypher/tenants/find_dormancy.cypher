// doc: Find how a tenant forgets.
// mode: read
// params: tenant STRING
// returns: dormancy STRING
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL
RETURN t.dormancy AS dormancy
