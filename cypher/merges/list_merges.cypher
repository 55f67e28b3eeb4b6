// doc: List merges by their names, from after a pair on.
// mode: read
// params: tenant STRING, status STRING, after_one STRING, after_other STRING, limit INTEGER
// returns: one STRING, other STRING, kind STRING, cosine FLOAT, reason STRING, status STRING,
//   decided_at DATETIME
CYPHER 25
MATCH (a:Name)
WHERE a.tenant = $tenant AND a.normalised >= $after_one
MATCH (a)-[r:SAME_AS]->(b:Concept)
WHERE ($status IS NULL OR r.status = $status)
  AND (a.normalised > $after_one OR b.normalised > $after_other)
RETURN a.normalised AS one, b.normalised AS other, a.kind AS kind, r.cosine AS cosine,
  r.reason AS reason, r.status AS status, r.decided_at AS decided_at
ORDER BY one, other
LIMIT $limit
