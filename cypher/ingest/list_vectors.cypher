// doc: Fetch the stored vectors of episodes.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// returns: id STRING, embedding LIST<FLOAT>
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
RETURN e.id AS id, e.embedding AS embedding
ORDER BY id
