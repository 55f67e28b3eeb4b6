// doc: List a tenant's facts by id, or the last stated first, from a cursor on; only facts about a
//   name if one is given, only those that may have a standing, and none that only episodes claim
//   whose life is over.
// mode: read
// params: tenant STRING, name STRING, relation STRING, standing STRING, newest BOOLEAN,
//   after_place INTEGER, after STRING, limit INTEGER
// returns: fact STRING, place INTEGER, key MAP
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
    // An object of few letters, such as "C#", is no concept.
    MATCH (f:Fact {tenant: tenant, object: $name})
    WHERE f.relation IS NOT NULL
    RETURN f
  }
}
WITH f
WHERE ($relation IS NULL OR f.relation = $relation)
  // A fact without a stored standing holds, or has too little evidence.
  AND ($standing IS NULL OR f.touched IS NOT NULL OR f.standing = $standing
    OR (f.standing IS NULL AND $standing IN ['held', 'candidate']))
  AND EXISTS {
    MATCH (f)-[:EVIDENCE]->(e:Episode) WHERE coalesce(e.expires_at > datetime(), true)
  }
WITH f, CASE WHEN $newest THEN head(COLLECT {
  MATCH (f)-[:EVIDENCE]->(e:Episode)
  WHERE coalesce(e.expires_at > datetime(), true)
  RETURN -(e.occurred_at.epochSeconds * 1000000 + e.occurred_at.microsecond) AS place
  ORDER BY place
  LIMIT 1
}) ELSE 0 END AS place
WHERE $after_place IS NULL OR place > $after_place OR (place = $after_place AND f.id > $after)
RETURN f.id AS fact, place,
  {subject: f.subject, relation: f.relation, qualifier: f.qualifier} AS key
ORDER BY place, fact
LIMIT $limit
