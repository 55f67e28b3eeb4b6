// doc: Tell which embedding model the store is bound to, and its latest schema file.
// mode: read
// returns: model STRING, dimension INTEGER, migration STRING
CYPHER 25
MATCH (s:Store {id: 'store'})
OPTIONAL MATCH (m:SchemaMigration)
WHERE m.id <> 'lock'
RETURN s.model AS model, s.dimension AS dimension, max(m.id) AS migration
ORDER BY model
LIMIT 1
