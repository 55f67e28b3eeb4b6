// doc: List the items under a path, the last written first.
// mode: read
// params: tenant STRING, path STRING, now DATETIME, offset INTEGER, limit INTEGER
// returns: namespace LIST<STRING>, key STRING, value JSON, created_at DATETIME,
//   updated_at DATETIME, expires_at DATETIME
CYPHER 25
MATCH (n:Item)
WHERE n.tenant = $tenant AND n.path STARTS WITH $path
  AND (n.expires_at IS NULL OR n.expires_at > $now)
WITH n
ORDER BY n.updated_at DESC, n.key DESC, n.path
SKIP $offset
LIMIT $limit
RETURN n.namespace AS namespace, n.key AS key, n.value AS value, n.created_at AS created_at,
  n.updated_at AS updated_at, n.expires_at AS expires_at
ORDER BY updated_at DESC, key DESC, n.path
