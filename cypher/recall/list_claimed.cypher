// doc: List the facts that episodes claim, with their keys.
// mode: read
// params: tenant STRING, episodes LIST<STRING>
// each: episode STRING, fact STRING, key MAP
CYPHER 25
UNWIND $episodes AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
MATCH (e)<-[:EVIDENCE]-(f:Fact)
WITH DISTINCT id, f
ORDER BY id, f.id
RETURN collect([
  id, f.id, {subject: f.subject, relation: f.relation, qualifier: f.qualifier}
]) AS rows
