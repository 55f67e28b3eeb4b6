// doc: List the association edges that only count, and have not counted since an instant.
// mode: read
// params: tenant STRING, before DATETIME
// each: edge STRING, one STRING, other STRING, weight FLOAT
CYPHER 25
CALL () {
  MATCH (n:Episode)
  WHERE n.tenant = $tenant AND n.turn IS NOT NULL
  MATCH (n)-[r:SIMILAR]->()
  WHERE r.weight = 0 AND r.last_used < $before
  RETURN r
  UNION ALL
  MATCH (n:Name)
  WHERE n.tenant = $tenant AND n.normalised IS NOT NULL AND n:Concept
  MATCH (n)-[r:ASSOCIATED]->()
  WHERE r.weight = 0 AND r.last_used < $before
  RETURN r
}
WITH r, startNode(r).id AS one, endNode(r).id AS other
ORDER BY type(r), one, other
RETURN collect([type(r), one, other, r.weight]) AS rows
