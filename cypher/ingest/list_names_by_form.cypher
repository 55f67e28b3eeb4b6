// doc: List the concepts stored with one of the forms a full-text query asks for.
// mode: read
// params: tenant STRING, query STRING
// each: normalised STRING, forms STRING
CYPHER 25
CALL db.index.fulltext.queryNodes('concept_forms', $query) YIELD node
WHERE node.tenant = $tenant
WITH node
ORDER BY node.normalised
RETURN collect([node.normalised, node.forms]) AS rows
