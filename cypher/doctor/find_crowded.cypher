// doc: Find live episodes that nearness joins to more live ones than either end's nearest are.
// mode: read
// params: tenant STRING, limit INTEGER
// returns: found INTEGER, id LIST<STRING>, detail LIST<STRING>
CYPHER 25
MATCH (t:Tenant {id: $tenant})
// One row first; without WITH, statistics of a small store make it a product of both.
WITH t.associated_turn AS last
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn <= last
  // Who is marked is joined anew by the next cycle.
  AND e:LiveEpisode AND e.touched IS NULL
WITH e, COUNT {
  (e)-[r:SIMILAR]-(o:LiveEpisode)
  WHERE r.w_sim > 0 AND o.touched IS NULL
} AS near
WHERE near > 15
WITH e.id AS id, 'SIMILAR to ' + near + ' by nearness, at most 15 may be' AS detail
ORDER BY id
RETURN count(*) AS found, collect(id)[..$limit] AS id, collect(detail)[..$limit] AS detail
