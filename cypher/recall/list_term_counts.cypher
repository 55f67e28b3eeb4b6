// doc: Look up the document frequencies of stems.
// mode: read
// params: tenant STRING, stems LIST<STRING>
// each: stem STRING, items INTEGER, near INTEGER
CYPHER 25
UNWIND $stems AS stem
MATCH (t:Term {tenant: $tenant, stem: stem})
WITH t
ORDER BY t.stem
RETURN collect([t.stem, t.items, t.near]) AS rows
