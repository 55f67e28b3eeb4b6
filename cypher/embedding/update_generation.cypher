// doc: Use the next generation of vectors; neighbours by the vectors of before are to be found anew,
//   and the scale of cosines begins anew.
// mode: write
// params: source INTEGER
// returns: generation INTEGER
// plan: Eager every tenant is marked before the answer
CYPHER 25
MATCH (s:Store {id: 'store'})
OPTIONAL MATCH (r:Reembedding {id: 'reembedding'})
WITH s, r
WHERE coalesce(s.generation, 0) = $source AND r.state = 'filling'
SET s.generation = $source + 1, s.model = r.model, s.dimension = r.dimension,
  r.state = 'cleaning', r.switched_at = datetime(), r.code = null, r.message = null
CALL () {
  MATCH (t:Tenant)
  SET t.associated_turn = 0, t.change = t.change + 1, t.scale = null
}
RETURN s.generation AS generation
