// doc: List the schedules of all tenants, or of those who have their own.
// mode: read
// params: own_only BOOLEAN
// returns: tenant STRING, own STRING, turn INTEGER, scheduled_turn INTEGER, due_at DATETIME,
//   now DATETIME
CYPHER 25
MATCH (t:Tenant)
WHERE t.erasing IS NULL AND (t.schedule IS NOT NULL OR NOT $own_only)
RETURN t.id AS tenant, t.schedule AS own, t.turn AS turn,
  coalesce(t.scheduled_turn, 0) AS scheduled_turn, t.due_at AS due_at,
  datetime.realtime() AS now
ORDER BY tenant
