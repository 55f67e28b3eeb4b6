// doc: Accept or reject a merge, or undo the decision, which restores the state before.
// mode: write
// params: tenant STRING, one STRING, other STRING, status STRING
// plan: Eager the edge is found before it changes, there is one
// returns: one STRING, other STRING, kind STRING, cosine FLOAT, reason STRING, status STRING,
//   decided_at DATETIME
CYPHER 25
MATCH (a:Name {tenant: $tenant, normalised: $one})-[r:SAME_AS]-(b:Concept)
WHERE b.normalised = $other
SET r.status = $status,
  r.weight = CASE WHEN $status = 'accepted' THEN 1.0 ELSE r.cosine END,
  r.decided_at = CASE WHEN $status = 'proposed' THEN null ELSE datetime() END
WITH r, startNode(r) AS one, endNode(r) AS other
RETURN one.normalised AS one, other.normalised AS other, one.kind AS kind, r.cosine AS cosine,
  r.reason AS reason, r.status AS status, r.decided_at AS decided_at
