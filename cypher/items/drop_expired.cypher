// doc: Delete up to a thousand of a tenant's items whose life is over.
// mode: write
// params: tenant STRING, now DATETIME
// plan: Eager the index finds all of them before the first is deleted, a thousand at most
CYPHER 25
MATCH (n:Item)
WHERE n.tenant = $tenant AND n.expires_at <= $now
WITH n
LIMIT 1000
DETACH DELETE n
