// doc: Keep one of a tenant's settings as text; null takes it away.
// mode: write
// params: tenant STRING, setting STRING, value STRING
// returns: id STRING
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL
  AND $setting IN ['gate', 'policy', 'dormancy', 'engram_formula', 'extraction', 'life_days']
SET t[$setting] = $value
RETURN t.id AS id
