// doc: List the tenants that have episodes whose life is over.
// mode: read
// returns: tenant STRING
CYPHER 25
MATCH (t:Tenant)
WHERE t.expires_from <= datetime() AND t.erasing IS NULL
RETURN t.id AS tenant
ORDER BY tenant
