// doc: List existing episodes with the hash of their bodies.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// each: id STRING, body_hash STRING, is_over BOOLEAN
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
WITH e
ORDER BY e.id
RETURN collect([e.id, e.body_hash, coalesce(e.expires_at <= datetime(), false)]) AS rows
