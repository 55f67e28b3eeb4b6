// doc: List a tenant's traces that wait to be learned from, oldest first.
// mode: read
// params: tenant STRING, limit INTEGER
// returns: id STRING
CYPHER 25
MATCH (p:Trace)
WHERE p.tenant = $tenant AND p.pending_since IS NOT NULL
RETURN p.id AS id
ORDER BY p.pending_since, id
LIMIT $limit
