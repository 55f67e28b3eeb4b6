// doc: List some of the episodes whose life is over, the longest first.
// mode: read
// params: tenant STRING, limit INTEGER
// returns: id STRING
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.expires_at <= datetime()
RETURN e.id AS id
ORDER BY e.tenant, e.expires_at, id
LIMIT $limit
