// doc: Hold a job longer and note where it is, while its lease still runs under this token.
// mode: write
// params: job STRING, token INTEGER, seconds FLOAT, place STRING, done INTEGER, total INTEGER,
//   ended LIST<STRING>, before STRING
// returns: cancelling BOOLEAN
CYPHER 25
MATCH (j:Job {id: $job})
SET j.held_at = datetime.realtime()
WITH j, datetime.realtime() AS now
WHERE j.token = $token AND j.lease_until > now
SET j.lease_until = now + duration({seconds: $seconds}),
  j.run_after = now + duration({seconds: $seconds}),
  j.place = $place,
  j.done = $done,
  j.total = $total,
  j.ended = coalesce(j.ended, []) + $ended,
  j.before = coalesce($before, j.before)
RETURN coalesce(j.cancelling, false) AS cancelling
