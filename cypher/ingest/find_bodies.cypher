// doc: Fetch live items that contain one of the phrases of a full-text query, with mentions.
// mode: read
// params: tenant STRING, query STRING
// each: id STRING, title STRING, text STRING, mentions LIST<STRING>
CYPHER 25
CALL db.index.fulltext.queryNodes('episode_terms', $query) YIELD node
WHERE node.tenant = $tenant
WITH node
ORDER BY node.id
RETURN collect([
  node.id, node.title, node.text,
  COLLECT { MATCH (node)-[:MENTIONS]->(c:Concept) RETURN c.normalised }
]) AS rows
