// doc: List episodes dormant since before an instant and not pinned, by turn, from a cursor on.
// mode: read
// params: tenant STRING, before DATETIME, after_turn INTEGER, limit INTEGER
// each: id STRING, turn INTEGER
CYPHER 25
MATCH (e:DormantEpisode)
WHERE e.tenant = $tenant AND e.turn > $after_turn AND e.dormant_at < $before
  AND e.embedding IS NOT NULL AND e.pinned IS NULL
WITH e
ORDER BY e.tenant, e.turn
LIMIT $limit
RETURN collect([e.id, e.turn]) AS rows
