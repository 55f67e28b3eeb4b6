// doc: Take the lease of a change of the embedding model if it is free, or keep one's own.
// mode: write
// params: holder STRING, seconds FLOAT
// returns: state STRING
// plan: Eager one node, found before it changes
CYPHER 25
MATCH (r:Reembedding {id: 'reembedding'})
// A write that changes something locks the node until the commit; one that does not may not.
SET r.held_at = datetime()
WITH r
WHERE r.state IN ['filling', 'cleaning', 'cancelling']
  AND (r.holder IS NULL OR r.holder = $holder OR r.until < datetime())
SET r.holder = $holder, r.until = datetime() + duration({seconds: $seconds})
RETURN r.state AS state
