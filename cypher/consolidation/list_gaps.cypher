// doc: List the cues refused often since the last whole cycle that is done, by their recalls.
// mode: read
// params: tenant STRING, least INTEGER, limit INTEGER
// returns: refused INTEGER, traces LIST<STRING>
CYPHER 25
CALL () {
  MATCH (j:Job)
  WHERE j.tenant = $tenant AND j.recorded_at IS NOT NULL
    AND j.kind = 'consolidation' AND j.state = 'done' AND j.steps = []
  RETURN coalesce(max(j.started_at), datetime({epochSeconds: 0})) AS since
}
MATCH (t:Trace)
WHERE t.tenant = $tenant AND t.created_at > since AND t.refused
WITH toLower(trim(t.cue)) AS cue, t
ORDER BY t.created_at DESC, t.id
WITH cue, count(*) AS refused, collect(t.id)[..5] AS traces
WHERE refused >= $least
RETURN refused, traces
ORDER BY refused DESC, cue
LIMIT $limit
