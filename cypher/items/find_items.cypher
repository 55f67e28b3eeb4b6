// doc: Find items by address, except those whose life is over.
// mode: read
// params: tenant STRING, rows LIST<MAP>, now DATETIME
// returns: namespace LIST<STRING>, key STRING, value JSON, created_at DATETIME,
//   updated_at DATETIME, expires_at DATETIME
CYPHER 25
UNWIND $rows AS row
MATCH (n:Item {tenant: $tenant, path: row.path, key: row.key})
WHERE n.expires_at IS NULL OR n.expires_at > $now
RETURN n.namespace AS namespace, n.key AS key, n.value AS value, n.created_at AS created_at,
  n.updated_at AS updated_at, n.expires_at AS expires_at
ORDER BY n.path, n.key
