// doc: Record how many vectors are made; a new attempt starts the clock of its rate.
// mode: write
// params: done INTEGER, total INTEGER, is_first BOOLEAN
CYPHER 25
MATCH (r:Reembedding {id: 'reembedding'})
SET r.done = $done, r.total = $total,
  r.attempt_at = CASE WHEN $is_first THEN datetime() ELSE r.attempt_at END,
  r.attempt_done = CASE WHEN $is_first THEN $done ELSE r.attempt_done END
