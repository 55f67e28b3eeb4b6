// doc: Find edges without family, weight or date, with a weight outside 0 to 1, or to a stranger, and
//   live episodes that nearness joins to more live ones than either end's nearest are.
// mode: read
// params: tenant STRING
CYPHER 25
CALL () {
  CALL () {
    MATCH (n:Episode)
    WHERE n.tenant = $tenant AND n.turn IS NOT NULL
    RETURN n
    UNION
    MATCH (n:Name)
    WHERE n.tenant = $tenant AND n.normalised IS NOT NULL
    RETURN n
    UNION
    MATCH (n:Fact)
    WHERE n.tenant = $tenant AND n.recorded_at IS NOT NULL
    RETURN n
  }
  MATCH (n)-[r]-(other)
  WITH n, r, CASE
    WHEN r.family IS NULL THEN 'has no family'
    WHEN r.weight IS NULL THEN 'has no weight'
    WHEN NOT (r.weight >= 0 AND r.weight <= 1) THEN 'has a weight outside 0 to 1'
    WHEN r.created_at IS NULL THEN 'has no date'
    WHEN other.tenant IS NULL OR other.tenant <> $tenant THEN 'leads to another tenant'
  END AS fault
  WHERE fault IS NOT NULL
  WITH r, min(coalesce(n.id, n.normalised)) AS id, fault
  RETURN id, type(r) + ' ' + fault AS detail
  UNION ALL
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
  RETURN e.id AS id, 'SIMILAR to ' + near + ' by nearness, at most 15 may be' AS detail
}
// use: symptoms(id)
