// doc: Tell which keys have a timeline.
// mode: read
// params: tenant STRING, keys LIST<MAP>
// returns: subject STRING, relation STRING, qualifier STRING
CYPHER 25
UNWIND $keys AS key
WITH key
WHERE EXISTS {
  MATCH (f:Fact {
    tenant: $tenant, subject: key.subject, relation: key.relation, qualifier: key.qualifier
  })
  WHERE f.standing IS NOT NULL
}
RETURN key.subject AS subject, key.relation AS relation, key.qualifier AS qualifier
ORDER BY subject, relation, qualifier
