// doc: List all tenants by name, the one of a name, or those that have episodes whose life is over.
// mode: read
// params: name STRING, expiring BOOLEAN
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
    WHERE wanted IS NULL AND (NOT $expiring OR t.expires_from <= datetime() AND t.erasing IS NULL)
    RETURN t
  }
}
RETURN t.id AS id, t.name AS name, t.created_at AS created_at
ORDER BY name
