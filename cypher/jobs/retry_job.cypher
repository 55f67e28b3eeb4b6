// doc: Queue a job again that ended without being done.
// mode: write
// params: tenant STRING, job STRING
// returns: job STRING
CYPHER 25
MATCH (j:Job {id: $job})
WHERE j.tenant = $tenant
SET j.held_at = datetime.realtime()
WITH j
WHERE j.state IN ['failed', 'dead', 'cancelled']
SET j.state = 'queued',
  j.slot = j.tenant + ' ' + j.kind + ' waiting',
  j.run_after = datetime.realtime(),
  j.attempts = 0
REMOVE j.started_at, j.finished_at, j.cancelling, j.code, j.message, j.place, j.done, j.total,
  j.ended, j.before
RETURN j.id AS job
