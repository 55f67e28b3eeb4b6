// doc: List the stored counts of every stem.
// mode: read
// params: tenant STRING
// each: stem STRING, items INTEGER
CYPHER 25
MATCH (t:Term)
WHERE t.tenant = $tenant AND t.stem IS NOT NULL
WITH t
ORDER BY t.stem
RETURN collect([t.stem, t.items]) AS rows
