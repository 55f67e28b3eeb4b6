// doc: List all tenants by name.
// mode: read
// returns: id STRING, name STRING, created_at DATETIME
CYPHER 25
MATCH (t:Tenant)
RETURN t.id AS id, t.name AS name, t.created_at AS created_at
ORDER BY name
