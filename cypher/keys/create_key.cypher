// doc: Store a key under its secret's hash; without a tenant it is the operator's.
// mode: write
// params: id STRING, tenant STRING, name STRING, prefix STRING, scopes LIST<STRING>,
//   hash STRING, created_at DATETIME, expires_at DATETIME
CYPHER 25
CREATE (:ApiKey {
  id: $id, tenant: $tenant, name: $name, prefix: $prefix, scopes: $scopes, hash: $hash,
  created_at: $created_at, recorded_at: $created_at, expires_at: $expires_at
})
