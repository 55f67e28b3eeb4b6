// doc: List the keys with a timeline that an episode claims something of, and those of names merged
//   with theirs: the merge may go with the episode.
// mode: read
// params: tenant STRING, episode STRING
// returns: subject STRING, relation STRING, qualifier STRING
CYPHER 25
MATCH (e:Episode {id: $episode})<-[:EVIDENCE]-(f:Fact)
WHERE e.tenant = $tenant AND f.standing IS NOT NULL
WITH DISTINCT f.subject AS name, f.relation AS relation, f.qualifier AS qualifier
CALL (name) {
  RETURN name AS subject
  UNION
  MATCH (:Name {tenant: $tenant, normalised: name})
    (()-[r:SAME_AS WHERE r.status = 'accepted']-(:Name)){1,5}(n:Name)
  RETURN n.normalised AS subject
}
RETURN DISTINCT subject, relation, qualifier
ORDER BY subject, relation, qualifier
