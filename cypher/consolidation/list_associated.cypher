// doc: List the edges that mentions together made between concepts.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// each: one STRING, other STRING, part FLOAT
CYPHER 25
UNWIND $ids AS id
MATCH (a:Concept {id: id})
WHERE a.tenant = $tenant
MATCH (a)-[r:ASSOCIATED]-(:Concept)
WHERE r.w_lift > 0
WITH DISTINCT r, startNode(r).id AS one, endNode(r).id AS other
ORDER BY one, other
RETURN collect([one, other, r.w_lift]) AS rows
