// doc: Count the associations of each type at a tenant's live nodes, as quantiles.
// mode: read
// params: tenant STRING
// returns: type STRING, half INTEGER, nine_tenths INTEGER, nearly_all INTEGER,
//   most INTEGER
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
RETURN type, percentileDisc(degree, 0.5) AS half,
  percentileDisc(degree, 0.9) AS nine_tenths, percentileDisc(degree, 0.99) AS nearly_all,
  max(degree) AS most
ORDER BY type
