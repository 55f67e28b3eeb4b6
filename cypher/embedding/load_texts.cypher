// doc: Read the words of nodes that vectors are made of.
// mode: read
// params: nodes LIST<STRING>
// returns: node STRING, stamp STRING, kind STRING, title STRING, text STRING, detail STRING,
//   cognitive STRING, description STRING, episode STRING, start INTEGER, end INTEGER
CYPHER 25
UNWIND $nodes AS wanted
MATCH (n)
WHERE elementId(n) = wanted AND n.embedding IS NOT NULL AND n.embedding_1 IS NULL
// use: described(n)
RETURN wanted AS node, coalesce(n.id, toString(n.updated_at)) AS stamp,
  CASE
    WHEN n:Episode THEN 'episode' WHEN n:Passage THEN 'passage' WHEN n:Concept THEN 'concept'
    WHEN n:Fact THEN 'fact' WHEN n:Engram THEN 'engram' ELSE 'item'
  END AS kind,
  n.title AS title, coalesce(n.text, n.statement, n.summary, n.name) AS text,
  coalesce(n.kind, n.value) AS detail,
  told.cognitive AS cognitive, told.description AS description, n.episode AS episode, n.start AS start, n.end AS end
ORDER BY node
