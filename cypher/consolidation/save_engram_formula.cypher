// doc: Record by which formula all engrams of a tenant are made.
// mode: write
// params: tenant STRING, formula STRING
CYPHER 25
MATCH (t:Tenant {id: $tenant})
SET t.engram_formula = $formula
