// doc: Set a tenant's own schedule, or the service's with null, and drop its due time.
// mode: write
// params: tenant STRING, schedule STRING
// returns: tenant STRING
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL
SET t.schedule = $schedule
REMOVE t.due_at
RETURN t.id AS tenant
