// doc: List the tenants with traces that wait to be learned from.
// mode: read
// returns: tenant STRING
CYPHER 25
MATCH (p:Trace)
WHERE p.tenant IS NOT NULL AND p.pending_since IS NOT NULL
RETURN DISTINCT p.tenant AS tenant
ORDER BY tenant
