// doc: Give a tenant its own gate; null takes it away.
// mode: write
// params: tenant STRING, gate STRING
// returns: id STRING
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL
SET t.gate = $gate
RETURN t.id AS id
