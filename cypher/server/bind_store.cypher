// doc: Bind the store to an embedding model, or show the model it is bound to.
// mode: write
// params: model STRING, dimension INTEGER
// returns: model STRING, dimension INTEGER, generation INTEGER
CYPHER 25
MERGE (s:Store {id: 'store'})
ON CREATE SET s.model = $model, s.dimension = $dimension, s.created_at = datetime()
RETURN s.model AS model, s.dimension AS dimension, coalesce(s.generation, 0) AS generation
