// doc: Switch a tenant's learning on or off; off drops the waiting traces.
// mode: write
// params: tenant STRING, on BOOLEAN, now DATETIME
// returns: id STRING
// plan: Eager the traces that wait are found before their mark goes, few wait at any time
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL
SET t.locked_at = datetime(),
  t.learning_since = CASE WHEN $on THEN coalesce(t.learning_since, $now) END
WITH t
CALL (t) {
  MATCH (p:Trace)
  WHERE p.tenant = $tenant AND p.pending_since IS NOT NULL AND NOT $on
  REMOVE p.pending_since
}
RETURN t.id AS id
