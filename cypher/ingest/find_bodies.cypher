// doc: Fetch the live items that a full-text query matches.
// mode: read
// params: tenant STRING, query STRING
// returns: id STRING, title STRING, text STRING
CYPHER 25
CALL db.index.fulltext.queryNodes('episode_terms', $query) YIELD node
WHERE node.tenant = $tenant
RETURN node.id AS id, node.title AS title, node.text AS text
ORDER BY id
