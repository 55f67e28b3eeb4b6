// doc: End a job that waits, or ask the worker that runs it to end it.
// mode: write
// params: tenant STRING, job STRING
// returns: job STRING
// plan: Eager one job, found before it changes
CYPHER 25
MATCH (j:Job {id: $job})
WHERE j.tenant = $tenant
SET j.held_at = datetime.realtime()
WITH j
WHERE j.slot IS NOT NULL
SET j += CASE j.state
  WHEN 'running' THEN {cancelling: true}
  ELSE {state: 'cancelled', finished_at: datetime.realtime(), slot: null, run_after: null}
END
RETURN j.id AS job
