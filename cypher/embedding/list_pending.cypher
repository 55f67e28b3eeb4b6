// doc: List nodes of all tenants that have a vector of this generation and none of the next.
// mode: read
// params: limit INTEGER
// returns: nodes LIST<STRING>
CYPHER 25
UNWIND ['Episode', 'Passage', 'Concept', 'Fact', 'Engram', 'Item'] AS label
MATCH (n:$(label))
WHERE n.embedding IS NOT NULL AND n.embedding_1 IS NULL
WITH elementId(n) AS node
ORDER BY node
LIMIT $limit
RETURN collect(node) AS nodes
