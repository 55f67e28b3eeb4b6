// doc: List the schedules of all tenants, or of those with their own, or that of one tenant.
// mode: read
// params: tenant STRING, own_only BOOLEAN
// returns: tenant STRING, settings JSON, turn INTEGER, scheduled_turn INTEGER,
//   light_turn INTEGER, due_at DATETIME, active_at DATETIME, now DATETIME
CYPHER 25
WITH $tenant AS wanted
CALL (wanted) {
  WHEN wanted IS NOT NULL THEN {
    MATCH (t:Tenant {id: wanted})
    RETURN t
  }
  ELSE {
    MATCH (t:Tenant)
    WHERE wanted IS NULL
    RETURN t
  }
}
WITH t
WHERE t.erasing IS NULL AND (t.settings CONTAINS '"schedule"' OR NOT $own_only)
CALL (t) {
  OPTIONAL MATCH (e:Episode)
  WHERE e.tenant = t.id AND e.turn <= t.turn
  RETURN e.recorded_at AS at
  ORDER BY e.tenant DESC, e.turn DESC
  LIMIT 1
  UNION ALL
  OPTIONAL MATCH (r:Trace)
  WHERE r.tenant = t.id AND r.created_at IS NOT NULL
  RETURN r.created_at AS at
  ORDER BY r.tenant DESC, r.created_at DESC
  LIMIT 1
}
WITH t, max(at) AS active_at
RETURN t.id AS tenant, t.settings AS settings, t.turn AS turn,
  coalesce(t.scheduled_turn, 0) AS scheduled_turn, coalesce(t.light_turn, 0) AS light_turn,
  t.due_at AS due_at, active_at,
  datetime.realtime() AS now
ORDER BY tenant
