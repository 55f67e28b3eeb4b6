// doc: List those of these concepts and facts that no episode speaks of which a recall may see.
// mode: read
// params: tenant STRING, ids LIST<STRING>, happened_by DATETIME, known_at DATETIME
// returns: id STRING
CYPHER 25
UNWIND $ids AS wanted
CALL (wanted) {
  MATCH (n:Concept {id: wanted})
  RETURN n
  UNION
  MATCH (n:Fact {id: wanted})
  RETURN n
}
WITH n
WHERE n.tenant = $tenant AND NOT EXISTS {
  MATCH (n)-[:MENTIONS|ABOUT|EVIDENCE]-(e:Episode)
  WHERE coalesce(e.expires_at > datetime(), true)
    AND ($happened_by IS NULL OR e.occurred_at <= $happened_by)
    AND ($known_at IS NULL OR e.recorded_at <= $known_at)
}
RETURN n.id AS id
ORDER BY id
