// doc: Give a job back, to be taken again after a pause, or end it, unless another worker has taken it.
// mode: write
// params: job STRING, token INTEGER, state STRING, seconds FLOAT, attempts INTEGER, report STRING,
//   code STRING, message STRING
// returns: tenant STRING
// plan: Eager one job, found before it changes
CYPHER 25
MATCH (j:Job {id: $job})
SET j.held_at = datetime.realtime()
WITH j, datetime.realtime() AS now
WHERE j.token = $token AND j.state = 'running'
SET j.state = $state, j.code = $code, j.message = $message, j.lease_until = null,
  j.attempts = j.attempts + $attempts
SET j += CASE $state
  WHEN 'queued' THEN {run_after: now + duration({seconds: $seconds})}
  ELSE {
    finished_at: now, report: $report, slot: null, run_after: null, ended: null, before: null
  }
END
RETURN j.tenant AS tenant
