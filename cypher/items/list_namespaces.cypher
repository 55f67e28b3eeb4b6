// doc: List the namespaces under a path that hold items.
// mode: read
// params: tenant STRING, path STRING, now DATETIME
// returns: namespace LIST<STRING>
CYPHER 25
MATCH (n:Item)
WHERE n.tenant = $tenant AND n.path STARTS WITH $path
  AND (n.expires_at IS NULL OR n.expires_at > $now)
RETURN DISTINCT n.namespace AS namespace
ORDER BY namespace
