// doc: Have the new vectors removed, if the store does not use them yet.
// mode: write
// returns: source INTEGER
CYPHER 25
MATCH (r:Reembedding {id: 'reembedding'})
// A write that changes something locks the node until the commit; one that does not may not.
SET r.held_at = datetime()
WITH r
WHERE r.state IN ['filling', 'failed', 'cancelling']
SET r.state = 'cancelling'
RETURN r.source AS source
