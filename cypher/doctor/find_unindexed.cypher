// doc: Find live episodes, passages and facts that the vector index or the text index cannot hold.
// mode: read
// params: tenant STRING
CYPHER 25
MATCH (s:Store {id: 'store'})
CALL (s) {
  MATCH (n:Episode)
  WHERE n.tenant = $tenant AND n.turn IS NOT NULL AND n:LiveEpisode
    AND coalesce(size(n.embedding), 0) <> s.dimension
  RETURN n.id AS id, 'a live episode without a vector of the store' AS detail
  UNION ALL
  MATCH (n:Episode)
  WHERE n.tenant = $tenant AND n.turn IS NOT NULL AND n:LiveEpisode AND n.terms IS NULL
  RETURN n.id AS id, 'a live episode without stems' AS detail
  UNION ALL
  MATCH (n:Passage)
  WHERE n.tenant = $tenant AND n.turn IS NOT NULL AND n:LivePassage
    AND (coalesce(size(n.embedding), 0) <> s.dimension OR n.terms IS NULL)
  RETURN n.id AS id, 'a live passage without a vector of the store, or without stems' AS detail
  UNION ALL
  MATCH (n:Fact)
  WHERE n.tenant = $tenant AND n.recorded_at IS NOT NULL AND n:LiveFact
    AND coalesce(size(n.embedding), 0) <> s.dimension
  RETURN n.id AS id, 'a live fact without a vector of the store' AS detail
}
// use: symptoms(id)
