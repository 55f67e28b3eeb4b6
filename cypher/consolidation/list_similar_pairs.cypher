// doc: List the edges that nearness made between any two episodes of a tenant.
// mode: read
// params: tenant STRING
// each: one STRING, other STRING, part FLOAT
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn IS NOT NULL
MATCH (e)-[r:SIMILAR]->(other:Episode)
WHERE r.w_sim > 0
WITH e.id AS one, other.id AS other, r.w_sim AS part
ORDER BY one, other
RETURN collect([one, other, part]) AS rows
