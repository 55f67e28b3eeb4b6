// doc: Keep on the tenant when the first life of an episode ends.
// mode: write
// params: tenant STRING
CYPHER 25
MATCH (t:Tenant {id: $tenant})
SET t.expires_from = head(COLLECT {
  MATCH (e:Episode)
  WHERE e.tenant = $tenant AND e.expires_at IS NOT NULL
  RETURN e.expires_at
  ORDER BY e.tenant, e.expires_at
  LIMIT 1
})
