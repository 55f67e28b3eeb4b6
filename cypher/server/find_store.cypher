// doc: Show the embedding model, its generation and the latest schema file of the store.
// mode: read
// returns: model STRING, dimension INTEGER, generation INTEGER, migration STRING
CYPHER 25
MATCH (s:Store {id: 'store'})
OPTIONAL MATCH (m:SchemaMigration)
WHERE m.id <> 'lock'
RETURN s.model AS model, s.dimension AS dimension, coalesce(s.generation, 0) AS generation,
  max(m.id) AS migration
ORDER BY model
LIMIT 1
