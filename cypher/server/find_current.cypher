// doc: Find the store if it is bound to a model, exactly these schema files were applied, and nobody
//   changes its schema; then wait until every index is online.
// mode: read
// params: model STRING, dimension INTEGER, applied LIST<STRING>, seconds INTEGER
// returns: model STRING, dimension INTEGER, generation INTEGER
CYPHER 25
MATCH (m:SchemaMigration)
WHERE m.id <> 'lock'
WITH m
ORDER BY m.id
WITH collect(m.id + ' ' + m.checksum) AS applied
WHERE applied = $applied
  AND NOT EXISTS {
    MATCH (l:SchemaMigration {id: 'lock'})
    WHERE l.holder IS NOT NULL AND l.until >= datetime()
  }
MATCH (s:Store {id: 'store'})
WHERE s.model = $model AND s.dimension = $dimension
CALL db.awaitIndexes($seconds)
RETURN s.model AS model, s.dimension AS dimension, coalesce(s.generation, 0) AS generation
ORDER BY model
