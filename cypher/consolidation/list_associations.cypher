// doc: List the edges by nearness of episodes to live ones, and by mentions between concepts; without
//   episodes the edges by nearness between any.
// mode: read
// params: tenant STRING, episodes LIST<STRING>, concepts LIST<STRING>
// each: one STRING, other STRING, part FLOAT
CYPHER 25
WITH $tenant AS tenant
CALL (tenant) {
  WHEN $episodes IS NULL THEN {
    MATCH (e:Episode)
    WHERE e.tenant = tenant AND e.turn IS NOT NULL
    MATCH (e)-[r:SIMILAR]->(:Episode)
    WHERE r.w_sim > 0
    RETURN r, r.w_sim AS part
  }
  ELSE {
    UNWIND $episodes AS id
    MATCH (a:Episode {id: id})
    WHERE a.tenant = tenant AND a:LiveEpisode
    MATCH (a)-[r:SIMILAR]-(:LiveEpisode)
    WHERE r.w_sim > 0
    RETURN r, r.w_sim AS part
    UNION
    UNWIND $concepts AS id
    MATCH (a:Concept {id: id})
    WHERE a.tenant = tenant
    MATCH (a)-[r:ASSOCIATED]-(:Concept)
    WHERE r.w_lift > 0
    RETURN r, r.w_lift AS part
  }
}
WITH startNode(r).id AS one, endNode(r).id AS other, part
ORDER BY one, other
RETURN collect([one, other, part]) AS rows
