// doc: Find one of the settings that a tenant keeps as text; null if it keeps none.
// mode: read
// params: tenant STRING, setting STRING
// returns: value STRING
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL
RETURN t[$setting] AS value
