// doc: Start the lives of items again.
// mode: write
// params: tenant STRING, rows LIST<MAP>, now DATETIME
// plan: Eager addresses are distinct, and nothing that is looked for is changed
// returns: namespace LIST<STRING>, key STRING, expires_at DATETIME
CYPHER 25
UNWIND $rows AS row
MATCH (n:Item {tenant: $tenant, path: row.path, key: row.key})
// The other index would read every item that expires.
USING INDEX SEEK n:Item(tenant, path, key)
WHERE n.ttl_s IS NOT NULL AND n.expires_at > $now
SET n.expires_at = $now + duration({seconds: n.ttl_s})
RETURN n.namespace AS namespace, n.key AS key, n.expires_at AS expires_at
ORDER BY n.path, n.key
