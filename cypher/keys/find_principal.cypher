// doc: Look up a key that was not revoked by its secret's hash.
// mode: read
// params: hash STRING
// returns: key STRING, tenant STRING, scopes LIST<STRING>, expires_at DATETIME
CYPHER 25
MATCH (k:ApiKey {hash: $hash})
WHERE k.revoked_at IS NULL
RETURN k.id AS key, nullIf(k.tenant, '') AS tenant, k.scopes AS scopes,
  k.expires_at AS expires_at
