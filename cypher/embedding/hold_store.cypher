// doc: Let nobody write vectors or run jobs until the commit: take every job and every tenant.
// mode: write
// plan: Eager all nodes of a kind are locked before those of the next
CYPHER 25
MATCH (s:Store {id: 'store'})
SET s.held_at = datetime()
WITH s
// A worker that holds a job loses it; what it computed came from the vectors of before.
CALL () {
  MATCH (j:Job)
  WHERE j.state = 'running'
  SET j.token = j.token + 1, j.lease_until = datetime(), j.run_after = datetime()
}
CALL () {
  MATCH (t:Tenant)
  WITH t
  ORDER BY t.id
  SET t.locked_at = datetime()
}
