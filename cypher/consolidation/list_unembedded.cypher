// doc: List live concepts, or engrams, without a vector, by id, from a cursor on; an engram's name is
//   its summary.
// mode: read
// params: tenant STRING, concepts BOOLEAN, after STRING, limit INTEGER
// returns: id STRING, name STRING, kind STRING, cognitive STRING, description STRING
CYPHER 25
WITH $tenant AS tenant
CALL (tenant) {
  WHEN $concepts THEN {
    MATCH (n:Name)
    WHERE n.tenant = tenant AND n.normalised IS NOT NULL AND n:LiveConcept
      AND n.embedding IS NULL AND n.id > $after
    // use: described(n)
    RETURN n.id AS id, n.name AS name, n.kind AS kind, told.cognitive AS cognitive,
      told.description AS description
  }
  ELSE {
    MATCH (n:Engram)
    WHERE n.tenant = tenant AND n.recorded_at IS NOT NULL AND n.terms IS NULL AND n.id > $after
    RETURN n.id AS id, n.summary AS name, null AS kind, null AS cognitive,
      null AS description
  }
}
RETURN id, name, kind, cognitive, description
ORDER BY id
LIMIT $limit
