// doc: List a tenant's traces, the newest first, from a cursor on, each with its first hit unless
//   that was erased or has expired.
// mode: read
// params: tenant STRING, strategy STRING, verdict STRING, before INTEGER, after_id STRING,
//   limit INTEGER
// returns: id STRING, cue STRING, strategy STRING, created_at DATETIME, verdict STRING,
//   confidence FLOAT, first STRING, title STRING, speaker STRING, text STRING
CYPHER 25
WITH datetime({
  epochSeconds: $before / 1000000, nanosecond: 1000 * ($before % 1000000)
}) AS before
MATCH (t:Trace)
WHERE t.tenant = $tenant AND t.created_at <= before
  // By OR the server might read all older ones, and sort them.
  AND CASE WHEN t.created_at = before THEN t.id > $after_id ELSE true END
  AND ($strategy IS NULL OR t.strategy = $strategy)
  AND ($verdict IS NULL OR t.verdict = $verdict)
WITH t
ORDER BY t.tenant DESC, t.created_at DESC, t.id
LIMIT $limit
OPTIONAL MATCH (t)-[w:WOKE]->(e:Episode)
WHERE w.rank = 1 AND coalesce(e.expires_at > datetime(), true)
RETURN t.id AS id, t.cue AS cue, t.strategy AS strategy, t.created_at AS created_at,
  t.verdict AS verdict, t.confidence AS confidence, e.id AS first, e.title AS title,
  nullIf(e.speaker, '') AS speaker, left(coalesce(e.text, e.summary), 500) AS text
ORDER BY created_at DESC, id
