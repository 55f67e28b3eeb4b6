// doc: Read a tenant's totals, and the numbers of names and facts counted from its graph.
// mode: read
// params: tenant STRING
// returns: change INTEGER, turn INTEGER, items INTEGER, titles INTEGER, length INTEGER,
//   stated INTEGER, came_with INTEGER, passages INTEGER, passages_found INTEGER
// plan: CartesianProduct of the one tenant and three sums
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL
CALL () {
  MATCH (n:Name)
  WHERE n.tenant = $tenant AND n.normalised IS NOT NULL
  RETURN sum(n.stated) AS names
}
CALL () {
  MATCH (f:Fact)
  WHERE f.tenant = $tenant AND f.recorded_at IS NOT NULL
  RETURN sum(COUNT { (f)-[:EVIDENCE]->() }) AS evidence
}
CALL () {
  MATCH (p:Passage)
  WHERE p.tenant = $tenant AND p.turn IS NOT NULL
  RETURN count(p) AS passages
}
RETURN t.change AS change, t.turn AS turn, t.items AS items, t.titles AS titles,
  t.length AS length, t.stated AS stated,
  names + evidence AS came_with,
  t.passages AS passages, passages AS passages_found
