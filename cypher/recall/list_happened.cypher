// doc: List episodes that happened by an instant, and were recorded by another.
// mode: read
// params: tenant STRING, ids LIST<STRING>, happened_by DATETIME, known_at DATETIME
// each: id STRING
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant AND e.occurred_at <= $happened_by
  AND ($known_at IS NULL OR e.recorded_at <= $known_at)
WITH e
ORDER BY e.id
RETURN collect([e.id]) AS rows
