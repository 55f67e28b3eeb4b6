// doc: Close a tenant to reading and writing, as the first step of erasing it.
// mode: write
// params: tenant STRING
// returns: id STRING
CYPHER 25
MATCH (t:Tenant {id: $tenant})
SET t.erasing = true
RETURN t.id AS id
