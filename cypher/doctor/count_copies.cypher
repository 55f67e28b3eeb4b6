// doc: Count where a text still stands in any property of any node or edge: the proof of an erasure.
// mode: read
// params: text STRING
// plan: AllNodesScan the whole store is searched, by hand or in a test
// returns: place STRING, copies INTEGER
CYPHER 25
CALL () {
  MATCH (n)
  UNWIND keys(n) AS key
  RETURN coalesce(head(labels(n)), '') AS of, key, n[key] AS value
  UNION ALL
  MATCH ()-[r]->()
  UNWIND keys(r) AS key
  RETURN type(r) AS of, key, r[key] AS value
}
WITH of + '.' + key AS place, value
// A list plus one value is a list, a list plus a list is another one.
WHERE any(item IN [] + value WHERE toLower(toStringOrNull(item)) CONTAINS toLower($text))
RETURN place, count(*) AS copies
ORDER BY place
