// doc: List the facts that episodes claim, with their keys.
// mode: read
// params: tenant STRING, episodes LIST<STRING>
// each: episode STRING, fact STRING, subject STRING, relation STRING, qualifier STRING
CYPHER 25
UNWIND $episodes AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
MATCH (e)<-[:EVIDENCE]-(f:Fact)
WITH DISTINCT id, f
ORDER BY id, f.id
RETURN collect([id, f.id, f.subject, f.relation, f.qualifier]) AS rows
