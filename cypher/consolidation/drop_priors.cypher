// doc: Remove the prior of live nodes without any edge that PageRank follows.
// mode: write
// params: tenant STRING
// returns: dropped INTEGER
// plan: Eager nodes are found before their prior goes; few have lost their last edge
CYPHER 25
CALL () {
  MATCH (n:Episode)
  WHERE n.tenant = $tenant AND n.turn IS NOT NULL AND n:LiveEpisode AND n.prior IS NOT NULL
    AND NOT EXISTS { (n)-[:NEXT]-(:LiveEpisode) }
    AND NOT EXISTS { (n)-[:MENTIONS|ABOUT]-(:LiveConcept) }
  RETURN n
  UNION ALL
  MATCH (n:Name)
  WHERE n.tenant = $tenant AND n.normalised IS NOT NULL AND n.prior IS NOT NULL
    AND NOT EXISTS { (n:LiveConcept)-[:MENTIONS|ABOUT]-(:LiveEpisode) }
  RETURN n
}
REMOVE n.prior
RETURN count(n) AS dropped
