// doc: Set how a tenant forgets; null for the defaults.
// mode: write
// params: tenant STRING, dormancy STRING
// returns: id STRING
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL
SET t.dormancy = $dormancy
RETURN t.id AS id
