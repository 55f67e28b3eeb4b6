// doc: List the edges on which something was learned, with the days since they were last used.
// mode: read
// params: tenant STRING, now DATETIME
// each: edge STRING, one STRING, other STRING, similar FLOAT, lift FLOAT, learned FLOAT,
//   age_days FLOAT, weight FLOAT
CYPHER 25
CALL () {
  MATCH (n:Episode)
  WHERE n.tenant = $tenant AND n.turn IS NOT NULL
  MATCH (n)-[r:SIMILAR]->(m:Episode)
  WHERE r.w_learned > 0
  RETURN n, r, m
  UNION ALL
  MATCH (n:Name)
  WHERE n.tenant = $tenant AND n.normalised IS NOT NULL AND n:Concept
  MATCH (n)-[r:ASSOCIATED]->(m:Concept)
  WHERE r.w_learned > 0
  RETURN n, r, m
}
WITH type(r) AS edge, n.id AS one, m.id AS other, r, CASE
    WHEN r.last_used IS NULL OR r.last_used > $now THEN 0.0
    ELSE ($now.epochMillis - r.last_used.epochMillis) / 86400000.0
  END AS age_days
ORDER BY edge, one, other
RETURN collect([
  edge, one, other, coalesce(r.w_sim, 0.0), coalesce(r.w_lift, 0.0), r.w_learned, age_days,
  r.weight
]) AS rows
