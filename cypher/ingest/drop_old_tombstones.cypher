// doc: Forget up to a thousand of a tenant's erasures that are so long ago that no late retry is expected.
// mode: write
// params: tenant STRING, seconds FLOAT
// plan: Eager the index finds all of them before the first is deleted, a thousand at most
CYPHER 25
MATCH (b:Tombstone)
WHERE b.tenant = $tenant AND b.erased_at <= datetime() - duration({seconds: $seconds})
WITH b
LIMIT 1000
DELETE b
