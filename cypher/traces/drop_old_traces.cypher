// doc: Delete a tenant's oldest traces over the number to keep, except those still to be learned from.
// mode: write
// params: tenant STRING, keep INTEGER
// plan: Eager the index is walked before anything is deleted, at most the kept number
CYPHER 25
MATCH (t:Trace)
WHERE t.tenant = $tenant AND t.created_at IS NOT NULL AND t.pending_since IS NULL
WITH t
ORDER BY t.tenant DESC, t.created_at DESC, t.id
SKIP $keep
DETACH DELETE t
