// doc: Count the associations of each type at a tenant's live nodes, as quantiles.
// mode: read
// params: tenant STRING
// returns: type STRING, degrees MAP
CYPHER 25
CALL () {
  MATCH (n:Episode)
  WHERE n.tenant = $tenant AND n.turn IS NOT NULL AND n:LiveEpisode
  RETURN 'SIMILAR' AS type, COUNT { (n)-[:SIMILAR]-() } AS degree
  UNION ALL
  MATCH (n:Name)
  WHERE n.tenant = $tenant AND n.normalised IS NOT NULL AND n:LiveConcept
  RETURN 'ASSOCIATED' AS type, COUNT { (n)-[:ASSOCIATED]-() } AS degree
}
RETURN type, {
  p50: percentileDisc(degree, 0.5), p90: percentileDisc(degree, 0.9),
  p99: percentileDisc(degree, 0.99), most: max(degree)
} AS degrees
ORDER BY type
