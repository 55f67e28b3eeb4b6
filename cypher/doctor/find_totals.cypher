// doc: Read a tenant's totals, and what its graph says its names and facts came to.
// mode: read
// params: tenant STRING
// returns: change INTEGER, turn INTEGER, items INTEGER, titles INTEGER, length INTEGER,
//   near_length FLOAT, stated INTEGER, came_with INTEGER
// plan: CartesianProduct of the one tenant and two sums
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL
CALL () {
  MATCH (n:Name)
  WHERE n.tenant = $tenant AND n.normalised IS NOT NULL
  RETURN sum(coalesce(n.stated, 0)) AS names
}
CALL () {
  MATCH (f:Fact)
  WHERE f.tenant = $tenant AND f.recorded_at IS NOT NULL
  RETURN sum(COUNT { (f)-[:EVIDENCE]->() }) AS evidence
}
RETURN t.change AS change, t.turn AS turn, t.items AS items, t.titles AS titles,
  t.length AS length, t.near_length AS near_length, coalesce(t.stated, 0) AS stated,
  names + evidence AS came_with
