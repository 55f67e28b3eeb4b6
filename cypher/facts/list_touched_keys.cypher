// doc: List keys whose timelines must be recomputed.
// mode: read
// params: tenant STRING, limit INTEGER
// returns: subject STRING, relation STRING, qualifier STRING
CYPHER 25
MATCH (f:Fact)
WHERE f.tenant = $tenant AND f.touched = true
WITH DISTINCT f.subject AS subject, f.relation AS relation, f.qualifier AS qualifier
RETURN subject, relation, qualifier
ORDER BY subject, relation, qualifier
LIMIT $limit
