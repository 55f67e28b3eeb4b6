// doc: Keep a property of a tenant as text: how far a step of consolidation has come.
// mode: write
// params: tenant STRING, property STRING, value STRING
// returns: id STRING
// plan: Eager one node, found before it changes
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL AND $property IN ['engram_formula', 'extraction']
SET t[$property] = $value
RETURN t.id AS id
