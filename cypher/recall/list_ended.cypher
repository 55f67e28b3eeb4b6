// doc: List those of these concepts and facts that only episodes speak of whose life is over.
// mode: read
// params: tenant STRING, ids LIST<STRING>
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
}
RETURN n.id AS id
ORDER BY id
