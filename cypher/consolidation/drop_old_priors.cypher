// doc: Take the prior from live nodes that this consolidation gave none: their edges are gone.
// mode: write
// params: tenant STRING, cycle STRING
// returns: dropped INTEGER
// plan: Eager nodes are found before their cycle goes; few have lost their last edge
CYPHER 25
CALL () {
  MATCH (n:Episode)
  WHERE n.tenant = $tenant AND n.turn IS NOT NULL AND n:LiveEpisode
    AND n.prior_cycle <> $cycle
  RETURN n
  UNION ALL
  MATCH (n:Name)
  WHERE n.tenant = $tenant AND n.normalised IS NOT NULL AND n.prior_cycle <> $cycle
  RETURN n
}
REMOVE n.prior, n.prior_cycle
RETURN count(n) AS dropped
