// doc: Delete items by address, and count those whose life was not over.
// mode: write
// params: tenant STRING, rows LIST<MAP>, now DATETIME
// returns: deleted INTEGER
// plan: Eager addresses are distinct, so no deleted item is looked for again
CYPHER 25
UNWIND $rows AS row
MATCH (n:Item {tenant: $tenant, path: row.path, key: row.key})
WITH n, n.expires_at IS NULL OR n.expires_at > $now AS alive
DETACH DELETE n
RETURN sum(CASE WHEN alive THEN 1 ELSE 0 END) AS deleted
