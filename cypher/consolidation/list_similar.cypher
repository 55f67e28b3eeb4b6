// doc: List the edges that nearness made between episodes and other live ones.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// each: one STRING, other STRING, part FLOAT
CYPHER 25
UNWIND $ids AS id
MATCH (a:Episode {id: id})
WHERE a.tenant = $tenant AND a:LiveEpisode
MATCH (a)-[r:SIMILAR]-(b:LiveEpisode)
WHERE r.w_sim > 0
WITH DISTINCT r, startNode(r).id AS one, endNode(r).id AS other
ORDER BY one, other
RETURN collect([one, other, r.w_sim]) AS rows
