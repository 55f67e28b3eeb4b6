// doc: Begin a change of the embedding model, or go on with one of the same model that failed.
// mode: write
// params: source INTEGER, model STRING, dimension INTEGER, choice STRING
// returns: source INTEGER
// plan: Eager one row, of the store
CYPHER 25
MATCH (s:Store {id: 'store'})
// A write that changes something locks the node until the commit; one that does not may not.
SET s.held_at = datetime()
WITH s
WHERE coalesce(s.generation, 0) = $source
MERGE (r:Reembedding {id: 'reembedding'})
WITH r
WHERE r.state IS NULL OR r.state IN ['done', 'cancelled']
  OR (r.state = 'failed' AND r.choice = $choice)
SET r = {
  id: 'reembedding', state: 'filling', source: $source, model: $model, dimension: $dimension,
  choice: $choice, done: 0, total: 0, started_at: datetime()
}
RETURN r.source AS source
