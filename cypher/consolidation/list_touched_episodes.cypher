// doc: List episodes after a turn, and episodes that a write has marked.
// mode: read
// params: tenant STRING, after INTEGER
// each: id STRING, turn INTEGER, mark STRING
CYPHER 25
CALL () {
  MATCH (e:Episode)
  WHERE e.tenant = $tenant AND e.turn > $after
  RETURN e
  UNION
  MATCH (e:Episode)
  WHERE e.tenant = $tenant AND e.touched IS NOT NULL
  RETURN e
}
WITH e
ORDER BY e.turn
RETURN collect([e.id, e.turn, coalesce(e.touched, '')]) AS rows
