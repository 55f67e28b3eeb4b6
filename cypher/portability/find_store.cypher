// doc: Show the embedding model and the latest schema file of the store.
// mode: read
// returns: model STRING, dimension INTEGER, migration STRING
CYPHER 25
MATCH (s:Store {id: 'store'})
OPTIONAL MATCH (m:SchemaMigration)
WHERE m.id <> 'lock'
RETURN s.model AS model, s.dimension AS dimension, max(m.id) AS migration
ORDER BY model
LIMIT 1
