// doc: Save the settings that a tenant has set itself; without learning no trace waits.
// mode: write
// params: tenant STRING, settings STRING, learns BOOLEAN, rescheduled BOOLEAN, now DATETIME
// returns: id STRING
// plan: Eager the traces that wait are found before their mark goes, few wait at any time
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL
SET t.settings = $settings,
  t.learning_since = CASE WHEN $learns THEN coalesce(t.learning_since, $now) END,
  t.due_at = CASE WHEN NOT $rescheduled THEN t.due_at END
WITH t
CALL (t) {
  MATCH (p:Trace)
  WHERE p.tenant = $tenant AND p.pending_since IS NOT NULL AND NOT $learns
  REMOVE p.pending_since
}
RETURN t.id AS id
