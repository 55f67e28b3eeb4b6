// doc: List the keys of a tenant, or the operator's under the empty tenant, oldest first.
// mode: read
// params: tenant STRING
// returns: id STRING, tenant STRING, name STRING, prefix STRING, scopes LIST<STRING>,
//   created_at DATETIME, expires_at DATETIME, revoked_at DATETIME
CYPHER 25
MATCH (k:ApiKey)
WHERE k.tenant = $tenant
RETURN k.id AS id, nullIf(k.tenant, '') AS tenant, k.name AS name, k.prefix AS prefix,
  k.scopes AS scopes, k.created_at AS created_at, k.expires_at AS expires_at,
  k.revoked_at AS revoked_at
ORDER BY created_at, id
