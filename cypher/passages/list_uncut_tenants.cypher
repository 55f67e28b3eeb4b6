// doc: List the tenants that have episodes from before there were passages.
// mode: read
// returns: tenant STRING
CYPHER 25
MATCH (t:Tenant)
WHERE t.cut_after IS NOT NULL AND t.erasing IS NULL
RETURN t.id AS tenant
ORDER BY tenant
