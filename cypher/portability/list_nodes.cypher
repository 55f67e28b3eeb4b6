// doc: List all nodes of a tenant, its own node and its keys last, or the operators' keys under the
//   empty tenant.
// mode: read
// params: tenant STRING
// returns: node STRING, late BOOLEAN
CYPHER 25
// The kinds are asked for, so that one that is added later is not left out of a copy.
CALL db.labels() YIELD label
MATCH (n:$(label))
WHERE n.tenant = $tenant OR (n:Tenant AND n.id = $tenant)
WITH DISTINCT elementId(n) AS node, n:Tenant OR n:ApiKey OR n:Job AS late
RETURN node, late
ORDER BY late, node
