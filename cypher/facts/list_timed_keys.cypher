// doc: List keys that have a timeline, also that of a merged name.
// mode: read
// params: tenant STRING, keys LIST<MAP>
// returns: subject STRING, relation STRING, qualifier STRING
CYPHER 25
UNWIND $keys AS key
CALL (key) {
  RETURN key.subject AS name
  UNION
  MATCH (:Name {tenant: $tenant, normalised: key.subject})
    (()-[r:SAME_AS WHERE r.status = 'accepted']-(:Name)){1,5}(n:Name)
  RETURN n.normalised AS name
}
WITH key, name
WHERE EXISTS {
  MATCH (f:Fact {
    tenant: $tenant, subject: name, relation: key.relation, qualifier: key.qualifier
  })
  WHERE f.standing IS NOT NULL
}
RETURN DISTINCT key.subject AS subject, key.relation AS relation, key.qualifier AS qualifier
ORDER BY subject, relation, qualifier
