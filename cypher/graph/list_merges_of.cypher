// doc: List the merges of a concept with others that are shown, by their names.
// mode: read
// params: tenant STRING, id STRING
// returns: one STRING, other STRING, kind STRING, cosine FLOAT, reason STRING, status STRING,
//   decided_at DATETIME
CYPHER 25
MATCH (n:Concept {id: $id})-[r:SAME_AS]-(d:Concept)
WHERE n.tenant = $tenant AND EXISTS {
  MATCH (d)-[:MENTIONS|ABOUT]-(e:Episode) WHERE coalesce(e.expires_at > datetime(), true)
}
WITH r, startNode(r) AS a, endNode(r) AS b
RETURN a.normalised AS one, b.normalised AS other, a.kind AS kind, r.cosine AS cosine,
  r.reason AS reason, r.status AS status, r.decided_at AS decided_at
ORDER BY one, other
LIMIT 100
