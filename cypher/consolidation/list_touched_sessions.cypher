// doc: List the sessions that a write has marked, or every one if the formula is another.
// mode: read
// params: tenant STRING, formula STRING
// returns: name STRING, mark STRING, last_occurred_at DATETIME, engram STRING
CYPHER 25
MATCH (t:Tenant {id: $tenant})
CALL (t) {
  WITH t
  WHERE toString(t.engram_formula) = $formula
  MATCH (s:Session)
  WHERE s.tenant = $tenant AND s.touched IS NOT NULL
  RETURN s
  UNION ALL
  WITH t
  WHERE t.engram_formula IS NULL OR toString(t.engram_formula) <> $formula
  MATCH (s:Session)
  WHERE s.tenant = $tenant AND s.name IS NOT NULL
  RETURN s
}
CALL (s) {
  MATCH (s)<-[:IN_SESSION]-(e:Episode)
  RETURN max(e.occurred_at) AS last_occurred_at
}
WITH s, last_occurred_at
WHERE last_occurred_at IS NOT NULL
RETURN s.name AS name, coalesce(s.touched, '') AS mark, last_occurred_at,
  head(COLLECT { MATCH (g:Engram)-[:SUMMARISES]->(s) RETURN g.id }) AS engram
ORDER BY name
