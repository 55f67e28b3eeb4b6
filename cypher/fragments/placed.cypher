// doc: Keep what filters of sessions, speakers and time pass.
// params: session STRING, speakers LIST<STRING>, occurred_from DATETIME,
//   occurred_before DATETIME, sessions LIST<STRING>
AND ($session IS NULL OR node.session = $session)
AND ($speakers IS NULL OR node.speaker IN $speakers)
AND ($occurred_from IS NULL OR node.occurred_at >= $occurred_from)
AND ($occurred_before IS NULL OR node.occurred_at < $occurred_before)
AND ($sessions IS NULL OR node.session IN $sessions)
