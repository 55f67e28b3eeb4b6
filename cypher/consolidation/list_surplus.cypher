// doc: List the association edges that one of their ends has stronger ones instead of, and those that
//   only count, and have not counted since an instant.
// mode: read
// params: tenant STRING, keep INTEGER, before DATETIME
// each: edge STRING, one STRING, other STRING, weight FLOAT
CYPHER 25
CALL () {
  MATCH (n:Episode)
  WHERE n.tenant = $tenant AND n.turn IS NOT NULL AND COUNT { (n)-[:SIMILAR]-() } > $keep
  CALL (n) {
    MATCH (n)-[r:SIMILAR]-()
    WHERE r.weight > 0
    RETURN r
    ORDER BY r.weight DESC, coalesce(r.last_used, r.created_at) DESC,
      startNode(r).id, endNode(r).id
    SKIP $keep
  }
  RETURN r
  UNION
  MATCH (n:Name)
  WHERE n.tenant = $tenant AND n.normalised IS NOT NULL AND n:Concept
    AND COUNT { (n)-[:ASSOCIATED]-() } > $keep
  CALL (n) {
    MATCH (n)-[r:ASSOCIATED]-()
    WHERE r.weight > 0
    RETURN r
    ORDER BY r.weight DESC, coalesce(r.last_used, r.created_at) DESC,
      startNode(r).id, endNode(r).id
    SKIP $keep
  }
  RETURN r
  UNION
  MATCH (n:Episode)
  WHERE n.tenant = $tenant AND n.turn IS NOT NULL
  MATCH (n)-[r:SIMILAR]->()
  WHERE r.weight = 0 AND r.last_used < $before
  RETURN r
  UNION
  MATCH (n:Name)
  WHERE n.tenant = $tenant AND n.normalised IS NOT NULL AND n:Concept
  MATCH (n)-[r:ASSOCIATED]->()
  WHERE r.weight = 0 AND r.last_used < $before
  RETURN r
}
WITH r, startNode(r).id AS one, endNode(r).id AS other
// The weakest first: taking some of them away changes nothing for those that follow.
ORDER BY r.weight, coalesce(r.last_used, r.created_at), one DESC, other DESC
RETURN collect([type(r), one, other, r.weight]) AS rows
