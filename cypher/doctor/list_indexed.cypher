// doc: List the episodes that the text index holds.
// mode: read
// params: tenant STRING, query STRING
// each: id STRING
CYPHER 25
CALL db.index.fulltext.queryNodes('episode_terms', $query) YIELD node
WHERE node.tenant = $tenant
WITH node
ORDER BY node.id
RETURN collect([node.id]) AS rows
