// doc: List the operators' keys, which belong to no tenant.
// mode: read
// returns: node STRING
CYPHER 25
MATCH (k:ApiKey)
WHERE k.tenant = ''
WITH elementId(k) AS node
RETURN node
ORDER BY node
