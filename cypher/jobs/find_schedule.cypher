// doc: Find a tenant's schedule and when it is due next.
// mode: read
// params: tenant STRING
// returns: tenant STRING, own STRING, turn INTEGER, scheduled_turn INTEGER, due_at DATETIME,
//   now DATETIME
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL
RETURN t.id AS tenant, t.schedule AS own, t.turn AS turn,
  coalesce(t.scheduled_turn, 0) AS scheduled_turn, t.due_at AS due_at,
  datetime.realtime() AS now
