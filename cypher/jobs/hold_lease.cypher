// doc: Take the write lock of a job whose lease still runs under this token.
// mode: write
// params: job STRING, token INTEGER
// returns: job STRING
CYPHER 25
MATCH (j:Job {id: $job})
// A write that changes something locks the node until the commit; one that does not may not.
SET j.held_at = datetime()
WITH j
WHERE j.token = $token AND j.lease_until > datetime.realtime()
RETURN j.id AS job
