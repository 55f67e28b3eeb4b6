// doc: List the links learned at some episodes, and what is counted between them.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// returns: one STRING, other STRING, learned FLOAT, coactivations INTEGER, used_ms INTEGER
CYPHER 25
UNWIND $ids AS id
MATCH (a:Episode {id: id})
WHERE a.tenant = $tenant
MATCH (a)-[r:SIMILAR]-(b:Episode)
WHERE r.w_learned > 0 OR (r.coactivations > 0 AND b.id IN $ids)
WITH DISTINCT r
RETURN startNode(r).id AS one, endNode(r).id AS other, coalesce(r.w_learned, 0.0) AS learned,
  coalesce(r.coactivations, 0) AS coactivations, r.last_used.epochMillis AS used_ms
ORDER BY one, other
