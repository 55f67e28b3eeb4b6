// doc: List those of some episodes that happened by an instant, were recorded by another, whose
//   metadata are among some, and of a kind; a bound that is not set passes all.
// mode: read
// params: tenant STRING, ids LIST<STRING>, happened_by DATETIME, known_at DATETIME,
//   metadata LIST<STRING>
// each: id STRING
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
  AND ($happened_by IS NULL OR e.occurred_at <= $happened_by)
  AND ($known_at IS NULL OR e.recorded_at <= $known_at)
  AND ($metadata IS NULL OR e.metadata IN $metadata)
  // use: of_kind(e)
WITH e
ORDER BY e.id
RETURN collect([e.id]) AS rows
