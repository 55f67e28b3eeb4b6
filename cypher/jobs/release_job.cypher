// doc: Give a job back, to be taken again after a pause, unless another worker has taken it.
// mode: write
// params: job STRING, token INTEGER, seconds FLOAT, attempts INTEGER, code STRING, message STRING
// returns: job STRING
CYPHER 25
MATCH (j:Job {id: $job})
SET j.held_at = datetime.realtime()
WITH j
WHERE j.token = $token AND j.state = 'running'
SET j.state = 'queued',
  j.run_after = datetime.realtime() + duration({seconds: $seconds}),
  j.attempts = j.attempts + $attempts,
  j.code = $code,
  j.message = $message
REMOVE j.lease_until
RETURN j.id AS job
