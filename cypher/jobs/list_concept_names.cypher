// doc: Look up the names of concepts by id; deleted ones have no row.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// returns: id STRING, name STRING
CYPHER 25
UNWIND $ids AS id
MATCH (c:Concept {id: id})
WHERE c.tenant = $tenant
RETURN c.id AS id, c.normalised AS name
ORDER BY id
