// doc: List live concepts without a vector by normalised name, or engrams by id, from after a cursor
//   on; an engram's name is its summary.
// mode: read
// params: tenant STRING, concepts BOOLEAN, after STRING, limit INTEGER
// returns: cursor STRING, id STRING, name STRING, kind STRING, cognitive STRING,
//   description STRING
CYPHER 25
WITH $tenant AS tenant
CALL (tenant) {
  WHEN $concepts THEN {
    MATCH (n:Name)
    WHERE n.tenant = tenant AND n.normalised > $after AND n:LiveConcept AND n.embedding IS NULL
    WITH n
    // The order of the index: a page reads no name of another page.
    ORDER BY n.tenant, n.normalised
    LIMIT $limit
    // use: described(n)
    RETURN n.normalised AS cursor, n.id AS id, n.name AS name, n.kind AS kind,
      told.cognitive AS cognitive, told.description AS description
  }
  ELSE {
    MATCH (n:Engram)
    WHERE n.tenant = tenant AND n.recorded_at IS NOT NULL AND n.terms IS NULL AND n.id > $after
    RETURN n.id AS cursor, n.id AS id, n.summary AS name, null AS kind, null AS cognitive,
      null AS description
  }
}
RETURN cursor, id, name, kind, cognitive, description
ORDER BY cursor
LIMIT $limit
