// doc: Keep up to which turn and until when a tenant's schedule was looked after.
// mode: write
// params: tenant STRING, turn INTEGER, light_turn INTEGER, due_at DATETIME
CYPHER 25
MATCH (t:Tenant {id: $tenant})
SET t.scheduled_turn = $turn, t.light_turn = $light_turn, t.due_at = $due_at
