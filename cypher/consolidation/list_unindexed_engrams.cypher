// doc: List engrams without stems and vector, by id, from a cursor on.
// mode: read
// params: tenant STRING, after STRING, limit INTEGER
// returns: id STRING, summary STRING
CYPHER 25
MATCH (g:Engram)
WHERE g.tenant = $tenant AND g.recorded_at IS NOT NULL AND g.terms IS NULL AND g.id > $after
RETURN g.id AS id, g.summary AS summary
ORDER BY id
LIMIT $limit
