// doc: List episodes after a turn and those that a write has marked, by turn; without a turn, the
//   concepts that a write has marked, or all if wanted, by id.
// mode: read
// params: tenant STRING, after INTEGER, every BOOLEAN
// each: id STRING, turn INTEGER, mark STRING
CYPHER 25
WITH $tenant AS tenant
CALL (tenant) {
  WHEN $after IS NOT NULL THEN {
    MATCH (n:Episode)
    WHERE n.tenant = tenant AND n.turn > $after
    RETURN n
    UNION
    MATCH (n:Episode)
    WHERE n.tenant = tenant AND n.touched IS NOT NULL
    RETURN n
  }
  WHEN $every THEN {
    MATCH (n:Name)
    WHERE n.tenant = tenant AND n.normalised IS NOT NULL AND n:Concept
    RETURN n
  }
  ELSE {
    MATCH (n:Concept)
    WHERE n.tenant = tenant AND n.touched IS NOT NULL
    RETURN n
  }
}
WITH n, coalesce(n.turn, 0) AS turn
ORDER BY turn, n.id
RETURN collect([n.id, turn, coalesce(n.touched, '')]) AS rows
