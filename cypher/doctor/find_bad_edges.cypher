// doc: Find edges without family, weight or date, with a weight outside 0 to 1, or to a stranger.
// mode: read
// params: tenant STRING, limit INTEGER
// returns: found INTEGER, id LIST<STRING>, detail LIST<STRING>
CYPHER 25
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
WITH id, type(r) + ' ' + fault AS detail
ORDER BY id, detail
RETURN count(*) AS found, collect(id)[..$limit] AS id, collect(detail)[..$limit] AS detail
