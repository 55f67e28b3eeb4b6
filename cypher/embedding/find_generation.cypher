// doc: Read the generation of vectors in use, and its model.
// mode: read
// returns: generation INTEGER, model STRING, dimension INTEGER
CYPHER 25
MATCH (s:Store {id: 'store'})
RETURN coalesce(s.generation, 0) AS generation, s.model AS model, s.dimension AS dimension
ORDER BY model
LIMIT 1
