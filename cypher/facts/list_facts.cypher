// doc: List a tenant's facts by id, from a cursor on; only facts about a name if one is given, and
//   none that only episodes claim whose life is over.
// mode: read
// params: tenant STRING, name STRING, relation STRING, after STRING, limit INTEGER
// returns: fact STRING, key MAP
CYPHER 25
WITH $tenant AS tenant
CALL (tenant) {
  WHEN $name IS NULL THEN {
    MATCH (f:Fact)
    WHERE f.tenant = tenant AND f.recorded_at IS NOT NULL
    RETURN f
  }
  ELSE {
    MATCH (f:Fact {tenant: tenant, subject: $name})
    WHERE f.relation IS NOT NULL
    RETURN f
    UNION
    MATCH (n:Name {tenant: tenant, normalised: $name})<-[:OBJECT]-(f:Fact)
    RETURN f
  }
}
WITH f
WHERE f.id > $after AND ($relation IS NULL OR f.relation = $relation)
  AND EXISTS {
    MATCH (f)-[:EVIDENCE]->(e:Episode) WHERE coalesce(e.expires_at > datetime(), true)
  }
RETURN f.id AS fact,
  {subject: f.subject, relation: f.relation, qualifier: f.qualifier} AS key
ORDER BY fact
LIMIT $limit
