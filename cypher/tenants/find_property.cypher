// doc: Find a property that a tenant keeps as text beside its settings; null if it keeps none.
// mode: read
// params: tenant STRING, property STRING
// returns: value STRING
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL
RETURN t[$property] AS value
