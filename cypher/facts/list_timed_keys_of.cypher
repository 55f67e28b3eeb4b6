// doc: List the keys with a timeline that an episode claims something of.
// mode: read
// params: tenant STRING, episode STRING
// returns: subject STRING, relation STRING, qualifier STRING
CYPHER 25
MATCH (e:Episode {id: $episode})<-[:EVIDENCE]-(f:Fact)
WHERE e.tenant = $tenant AND f.standing IS NOT NULL
RETURN DISTINCT f.subject AS subject, f.relation AS relation, f.qualifier AS qualifier
ORDER BY subject, relation, qualifier
