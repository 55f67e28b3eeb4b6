// doc: Delete keys of a tenant, or operators' keys under the empty tenant, that expired long ago.
// mode: write
// params: tenant STRING, before DATETIME
// plan: Eager the index is walked before keys are deleted, a few of one tenant
CYPHER 25
MATCH (k:ApiKey)
WHERE k.tenant = $tenant AND k.expires_at < $before
DELETE k
