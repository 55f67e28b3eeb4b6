// doc: List the episodes whose life is over and that are not erased yet.
// mode: read
// params: tenant STRING
// each: id STRING
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.expires_at <= datetime()
WITH e
ORDER BY e.tenant, e.expires_at
RETURN collect([e.id]) AS rows
