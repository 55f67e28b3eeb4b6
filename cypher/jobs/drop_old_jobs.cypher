// doc: Delete a tenant's oldest ended jobs over the number to keep.
// mode: write
// params: tenant STRING, keep INTEGER
// plan: Eager the index is walked before anything is deleted, at most the kept number
CYPHER 25
MATCH (j:Job)
WHERE j.tenant = $tenant AND j.recorded_at IS NOT NULL AND j.slot IS NULL
WITH j
ORDER BY j.tenant DESC, j.recorded_at DESC, j.id
SKIP $keep
DETACH DELETE j
