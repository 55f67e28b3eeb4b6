// doc: Fetch the live items whose words hold one of the phrases a full-text query asks for.
// mode: read
// params: tenant STRING, query STRING
// each: id STRING, title STRING, text STRING
CYPHER 25
CALL db.index.fulltext.queryNodes('episode_terms', $query) YIELD node
WHERE node.tenant = $tenant
WITH node
ORDER BY node.id
RETURN collect([node.id, node.title, node.text]) AS rows
