// doc: Delete one batch of a tenant's keys with their edges, and count it.
// mode: write
// params: tenant STRING, batch INTEGER
// returns: deleted INTEGER
CYPHER 25
MATCH (n:ApiKey)
WHERE n.tenant = $tenant
WITH n
LIMIT $batch
DETACH DELETE n
RETURN count(*) AS deleted
