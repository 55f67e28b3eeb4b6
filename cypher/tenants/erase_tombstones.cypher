// doc: Delete one batch of the marks that a tenant's erased episodes left, and count it.
// mode: write
// params: tenant STRING, batch INTEGER
// returns: deleted INTEGER
CYPHER 25
MATCH (n:Tombstone)
WHERE n.tenant = $tenant AND n.erased_at IS NOT NULL
WITH n
LIMIT $batch
DETACH DELETE n
RETURN count(*) AS deleted
