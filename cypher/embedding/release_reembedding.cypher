// doc: Give the lease of a change of the embedding model back, and tell why it ended.
// mode: write
// params: holder STRING, seconds FLOAT, state STRING, code STRING, message STRING
// plan: Eager one node, found before it changes
CYPHER 25
MATCH (r:Reembedding {id: 'reembedding'})
WHERE r.holder = $holder
SET r.holder = CASE WHEN $seconds > 0 THEN 'nobody' END,
  r.until = datetime() + duration({seconds: $seconds}),
  r.state = coalesce($state, r.state),
  r.finished_at = CASE WHEN $state IS NULL THEN r.finished_at ELSE datetime() END,
  r.code = $code, r.message = $message
