// doc: Read every edge that leaves these nodes.
// mode: read
// params: nodes LIST<STRING>
// returns: tail STRING, head STRING, type STRING, properties MAP
CYPHER 25
UNWIND $nodes AS wanted
MATCH (a)-[r]->(b)
WHERE elementId(a) = wanted
WITH wanted AS tail, elementId(b) AS head, type(r) AS type, properties(r) AS properties,
  elementId(r) AS edge
RETURN tail, head, type, properties
ORDER BY tail, edge
