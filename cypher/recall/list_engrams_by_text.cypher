// doc: Search the text index of engrams.
// mode: read
// params: query STRING, tenant STRING, limit INTEGER
// returns: id STRING, score FLOAT
CYPHER 25
CALL db.index.fulltext.queryNodes('engram_terms', $query, {limit: $limit})
YIELD node, score
WHERE node.tenant = $tenant
RETURN node.id AS id, score
ORDER BY score DESC, id
