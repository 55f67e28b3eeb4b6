// doc: Take a due job under a lease, as the begun one of its kind.
// mode: write
// params: job STRING, seconds FLOAT, generation INTEGER
// returns: token INTEGER, tenant STRING
// plan: Eager the one job is locked before its state is read
CYPHER 25
MATCH (s:Store {id: 'store'})
SET s.held_at = datetime()
WITH s
// A worker with the encoder of before would compute with vectors that are no longer used.
WHERE coalesce(s.generation, 0) = $generation
MATCH (j:Job {id: $job})
// A write that changes something locks the node until the commit; one that does not may not.
SET j.held_at = datetime.realtime()
WITH j, datetime.realtime() AS now, j.tenant + ' ' + j.kind + ' begun' AS slot
WHERE j.run_after <= now AND (j.slot = slot OR NOT EXISTS { MATCH (other:Job {slot: slot}) })
SET j.slot = slot,
  j.state = 'running',
  j.token = j.token + 1,
  j.attempts = j.attempts + 1,
  j.started_at = coalesce(j.started_at, now),
  j.lease_until = now + duration({seconds: $seconds}),
  j.run_after = now + duration({seconds: $seconds})
RETURN j.token AS token, j.tenant AS tenant
