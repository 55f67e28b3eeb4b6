// doc: List live concepts without a vector, by id, from a cursor on.
// mode: read
// params: tenant STRING, after STRING, limit INTEGER
// returns: id STRING, name STRING, kind STRING
CYPHER 25
MATCH (c:Name)
WHERE c.tenant = $tenant AND c.normalised IS NOT NULL AND c:LiveConcept AND c.embedding IS NULL
  AND c.id > $after
RETURN c.id AS id, c.name AS name, c.kind AS kind
ORDER BY id
LIMIT $limit
