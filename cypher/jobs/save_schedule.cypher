// doc: Give a tenant its own schedule, or the service's with null; when it is due is reckoned anew.
// mode: write
// params: tenant STRING, schedule STRING
// returns: tenant STRING
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL
SET t.schedule = $schedule
REMOVE t.due_at
RETURN t.id AS tenant
