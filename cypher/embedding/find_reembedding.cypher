// doc: Read the change of the embedding model that is under way, or was the last.
// mode: read
// returns: state STRING, source INTEGER, model STRING, dimension INTEGER,
//   choice STRING, done INTEGER, total INTEGER, started_at DATETIME, attempt_at DATETIME,
//   attempt_done INTEGER, now DATETIME, switched_at DATETIME, finished_at DATETIME, code STRING,
//   message STRING
CYPHER 25
MATCH (r:Reembedding {id: 'reembedding'})
RETURN r.state AS state, r.source AS source, r.model AS model, r.dimension AS dimension,
  r.choice AS choice, r.done AS done, r.total AS total, r.started_at AS started_at,
  r.attempt_at AS attempt_at, r.attempt_done AS attempt_done, datetime() AS now,
  r.switched_at AS switched_at, r.finished_at AS finished_at, r.code AS code,
  r.message AS message
ORDER BY started_at
LIMIT 1
