// doc: Queue a job, or join the one that waits in its slot; none if that one was just taken.
// mode: write
// params: id STRING, tenant STRING, kind STRING, steps LIST<STRING>, trigger STRING
// returns: id STRING
// plan: Eager the one job is locked before its state is read
CYPHER 25
WITH $tenant + ' ' + $kind + ' waiting' AS slot, datetime.realtime() AS now
MERGE (j:Job {slot: slot})
ON CREATE SET
  j.id = $id, j.tenant = $tenant, j.kind = $kind, j.steps = $steps, j.trigger = $trigger,
  j.state = 'queued', j.recorded_at = now, j.run_after = now, j.token = 0, j.attempts = 0
// Locks the job until the commit, so that a worker takes it before or after.
SET j.held_at = now
WITH j
WHERE j.slot ENDS WITH ' waiting'
SET j.steps = CASE j.steps WHEN $steps THEN $steps ELSE [] END
RETURN j.id AS id
