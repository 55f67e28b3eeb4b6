// doc: Find a tenant by name.
// mode: read
// params: name STRING
// returns: id STRING, name STRING, created_at DATETIME
CYPHER 25
MATCH (t:Tenant {name: $name})
RETURN t.id AS id, t.name AS name, t.created_at AS created_at
