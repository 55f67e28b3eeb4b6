// doc: List a tenant's decisions about predicates and about facts that are shown, the latest first,
//   from a cursor on.
// mode: read
// params: tenant STRING, before INTEGER, limit INTEGER
// returns: id STRING, number INTEGER, recorded_at DATETIME, ruling STRING, fact STRING,
//   other STRING, relation STRING, predicate_class STRING, valid_from DATETIME,
//   valid_to DATETIME, undoes STRING, by STRING, why STRING, statement STRING,
//   other_statement STRING, undone BOOLEAN
CYPHER 25
// The latest come first: an undo that was undone itself takes nothing back.
WITH reduce(undone = [], pair IN COLLECT {
  MATCH (u:Decision)
  WHERE u.tenant = $tenant AND u.number IS NOT NULL AND u.undoes IS NOT NULL
  RETURN [u.id, u.undoes] AS pair
  ORDER BY u.number DESC
} | CASE WHEN pair[0] IN undone THEN undone ELSE undone + [pair[1]] END) AS undone
MATCH (d:Decision)
WHERE d.tenant = $tenant AND d.number < $before AND (d.fact IS NULL OR EXISTS {
  MATCH (d)-[:DECIDES]->(f:Fact)-[:EVIDENCE]->(e:Episode)
  WHERE f.id = d.fact AND coalesce(e.expires_at > datetime(), true)
})
WITH d, undone
ORDER BY d.tenant DESC, d.number DESC
LIMIT $limit
CALL (d) {
  OPTIONAL MATCH (d)-[:DECIDES]->(f:Fact)
  WHERE EXISTS {
    MATCH (f)-[:EVIDENCE]->(e:Episode) WHERE coalesce(e.expires_at > datetime(), true)
  }
  RETURN max(CASE WHEN f.id = d.fact THEN f.statement END) AS statement,
    max(CASE WHEN f.id = d.other THEN f.statement END) AS other_statement
}
RETURN d.id AS id, d.number AS number, d.recorded_at AS recorded_at, d.ruling AS ruling,
  d.fact AS fact, d.other AS other, d.relation AS relation, d.predicate_class AS predicate_class,
  d.valid_from AS valid_from, d.valid_to AS valid_to, d.undoes AS undoes, d.decided_by AS by,
  d.why AS why, statement, other_statement, d.id IN undone AS undone
ORDER BY number DESC
