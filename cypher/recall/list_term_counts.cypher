// doc: Look up the document frequencies of stems.
// mode: read
// params: tenant STRING, stems LIST<STRING>
// returns: stem STRING, items INTEGER, near INTEGER
CYPHER 25
UNWIND $stems AS stem
MATCH (t:Term {tenant: $tenant, stem: stem})
RETURN t.stem AS stem, t.items AS items, t.near AS near
ORDER BY stem
