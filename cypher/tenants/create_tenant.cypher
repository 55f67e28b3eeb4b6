// doc: Create a tenant with empty counters.
// mode: write
// params: id STRING, name STRING, created_at DATETIME
CYPHER 25
// No tenant comes into being while the store changes its embedding model.
MATCH (s:Store {id: 'store'})
SET s.held_at = datetime()
CREATE (:Tenant {
  id: $id, name: $name, created_at: $created_at, recorded_at: $created_at,
  turn: 0, change: 0, names_kept: 0, items: 0, titles: 0, length: 0, passages: 0, stated: 0,
  timed: false,
  associated_turn: 0, associated_total: 0, recall_total: 0, feedback_total: 0
})
