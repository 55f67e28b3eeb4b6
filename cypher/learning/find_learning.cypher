// doc: Show whether a tenant learns from recalls, and the numbers of learned and waiting ones.
// mode: read
// params: tenant STRING
// returns: on BOOLEAN, recalls INTEGER, pending INTEGER
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL
RETURN t.learning_since IS NOT NULL AS on, coalesce(t.recall_total, 0) AS recalls,
  COUNT { (p:Trace) WHERE p.tenant = $tenant AND p.pending_since IS NOT NULL } AS pending
