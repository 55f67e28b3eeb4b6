// doc: Find a job of a tenant by id, or list its jobs, of a kind or in a state, the newest first.
// mode: read
// params: tenant STRING, job STRING, kind STRING, state STRING, limit INTEGER
// returns: id STRING, tenant STRING, kind STRING, state STRING, trigger STRING,
//   steps LIST<STRING>, attempts INTEGER, created_at DATETIME, run_after DATETIME,
//   started_at DATETIME, finished_at DATETIME, cancelling BOOLEAN, progress MAP,
//   ended LIST<JSON>, before JSON, report JSON, calibration JSON, calibration_options JSON,
//   fault MAP
CYPHER 25
WITH $tenant AS tenant
CALL (tenant) {
  WHEN $job IS NOT NULL THEN {
    MATCH (j:Job {id: $job})
    WHERE j.tenant = tenant
    RETURN j, j.recorded_at AS created_at
  }
  ELSE {
    MATCH (j:Job)
    WHERE j.tenant = tenant AND j.recorded_at IS NOT NULL
      AND ($kind IS NULL OR j.kind = $kind) AND ($state IS NULL OR j.state = $state)
    RETURN j, j.recorded_at AS created_at
    ORDER BY created_at DESC, j.id
    LIMIT $limit
  }
}
// The one step of a calibration is its options.
WITH j, created_at, j.kind = 'calibration' AS fits
RETURN j.id AS id, j.tenant AS tenant, j.kind AS kind, j.state AS state, j.trigger AS trigger,
  CASE WHEN fits THEN [] ELSE j.steps END AS steps, j.attempts AS attempts, created_at,
  j.run_after AS run_after, j.started_at AS started_at, j.finished_at AS finished_at,
  coalesce(j.cancelling, false) AS cancelling,
  {place: coalesce(j.place, ''), done: coalesce(j.done, 0), total: coalesce(j.total, 0)}
    AS progress,
  coalesce(j.ended, []) AS ended, j.before AS before,
  CASE WHEN NOT fits THEN j.report END AS report,
  CASE WHEN fits THEN j.report END AS calibration,
  CASE WHEN fits THEN head(j.steps) END AS calibration_options,
  CASE WHEN j.code IS NOT NULL THEN {code: j.code, message: coalesce(j.message, '')} END AS fault
ORDER BY created_at DESC, id
