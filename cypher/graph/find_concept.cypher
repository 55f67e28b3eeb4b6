// doc: Find a concept, with the memories that speak of it.
// mode: read
// params: tenant STRING, id STRING
CYPHER 25
MATCH (c:Concept {id: $id})
WHERE c.tenant = $tenant
// use: counted(c)
RETURN id, name, normalised, kind, cognitive, description, importance, mentions,
  first_occurred_at, last_occurred_at
