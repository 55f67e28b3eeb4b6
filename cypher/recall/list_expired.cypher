// doc: List the episodes whose life is over and that are not erased yet, the longest over first.
// mode: read
// params: tenant STRING, limit INTEGER
// each: id STRING
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.expires_at <= datetime()
WITH e
ORDER BY e.tenant, e.expires_at, e.id
LIMIT $limit
RETURN collect([e.id]) AS rows
