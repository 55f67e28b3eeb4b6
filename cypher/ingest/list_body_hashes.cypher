// doc: Tell which episodes exist, with the hash of their bodies.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// returns: id STRING, body_hash STRING
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
RETURN e.id AS id, e.body_hash AS body_hash
ORDER BY id
