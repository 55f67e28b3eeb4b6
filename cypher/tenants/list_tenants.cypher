// doc: List all tenants by name, or only the one of a name.
// mode: read
// params: name STRING
// returns: id STRING, name STRING, created_at DATETIME
CYPHER 25
WITH $name AS wanted
CALL (wanted) {
  WHEN wanted IS NOT NULL THEN {
    MATCH (t:Tenant {name: wanted})
    RETURN t
  }
  ELSE {
    MATCH (t:Tenant)
    WHERE wanted IS NULL
    RETURN t
  }
}
RETURN t.id AS id, t.name AS name, t.created_at AS created_at
ORDER BY name
