// doc: List concepts that a write has marked, or all concepts if wanted, by id.
// mode: read
// params: tenant STRING, every BOOLEAN
// each: id STRING, turn INTEGER, mark STRING
CYPHER 25
WITH $tenant AS tenant
CALL (tenant) {
  WHEN $every THEN {
    MATCH (c:Name)
    WHERE c.tenant = tenant AND c.normalised IS NOT NULL AND c:Concept
    RETURN c, coalesce(c.touched, '') AS mark
  }
  ELSE {
    MATCH (c:Concept)
    WHERE c.tenant = tenant AND c.touched IS NOT NULL
    RETURN c, c.touched AS mark
  }
}
WITH c, mark
ORDER BY c.id
RETURN collect([c.id, 0, mark]) AS rows
