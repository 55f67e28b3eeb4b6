// doc: Accept or reject a merge, or undo the decision, which restores the state before, and mark the
//   facts whose subject is one of the names, or merged with one.
// mode: write
// params: tenant STRING, one STRING, other STRING, status STRING
// plan: Eager the edge is found before it changes, there is one; all names before a fact is marked
// returns: one STRING, other STRING, kind STRING, cosine FLOAT, reason STRING, status STRING,
//   decided_at DATETIME
CYPHER 25
MATCH (a:Name {tenant: $tenant, normalised: $one})-[r:SAME_AS]-(b:Concept)
WHERE b.normalised = $other
SET r.status = $status,
  r.weight = CASE WHEN $status = 'accepted' THEN 1.0 ELSE r.cosine END,
  r.decided_at = CASE WHEN $status = 'proposed' THEN null ELSE datetime() END
WITH r, startNode(r) AS one, endNode(r) AS other
CALL (one, other) {
  UNWIND [one.normalised, other.normalised] AS name
  MATCH (:Name {tenant: $tenant, normalised: name})
    (()-[same:SAME_AS WHERE same.status = 'accepted']-(:Name)){0,5}(n:Name)
  WITH DISTINCT n.normalised AS subject
  MATCH (f:Fact {tenant: $tenant, subject: subject})
  WHERE f.relation IS NOT NULL
  SET f.touched = true
}
RETURN one.normalised AS one, other.normalised AS other, one.kind AS kind, r.cosine AS cosine,
  r.reason AS reason, r.status AS status, r.decided_at AS decided_at
