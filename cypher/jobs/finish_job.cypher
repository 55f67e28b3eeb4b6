// doc: End a job unless another worker has taken it.
// mode: write
// params: job STRING, token INTEGER, state STRING, report STRING, code STRING, message STRING
// returns: tenant STRING
CYPHER 25
MATCH (j:Job {id: $job})
SET j.held_at = datetime.realtime()
WITH j
WHERE j.token = $token AND j.state = 'running'
SET j.state = $state,
  j.finished_at = datetime.realtime(),
  j.report = $report,
  j.code = $code,
  j.message = $message
REMOVE j.slot, j.run_after, j.lease_until, j.ended, j.before
RETURN j.tenant AS tenant
