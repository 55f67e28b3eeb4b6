// doc: List a tenant's facts, by id, from a cursor on.
// mode: read
// params: tenant STRING, relation STRING, after STRING, limit INTEGER
// returns: id STRING, subject STRING, relation STRING, qualifier STRING
CYPHER 25
MATCH (f:Fact)
WHERE f.tenant = $tenant AND f.recorded_at IS NOT NULL AND f.id > $after
  AND ($relation IS NULL OR f.relation = $relation)
RETURN f.id AS id, f.subject AS subject, f.relation AS relation, f.qualifier AS qualifier
ORDER BY id
LIMIT $limit
