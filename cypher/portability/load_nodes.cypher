// doc: Read whole nodes.
// mode: read
// params: nodes LIST<STRING>
// returns: node STRING, labels LIST<STRING>, properties MAP
CYPHER 25
UNWIND $nodes AS wanted
MATCH (n)
WHERE elementId(n) = wanted
RETURN wanted AS node, labels(n) AS labels, properties(n) AS properties
ORDER BY node
