// doc: Delete one batch of a tenant's jobs, which ends the leases they are run under.
// mode: write
// params: tenant STRING, batch INTEGER
// returns: deleted INTEGER
CYPHER 25
MATCH (n:Job)
WHERE n.tenant = $tenant AND n.recorded_at IS NOT NULL
WITH n
LIMIT $batch
DETACH DELETE n
RETURN count(*) AS deleted
