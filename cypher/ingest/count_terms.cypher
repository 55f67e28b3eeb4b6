// doc: Add to the document frequencies of stems; create new stems.
// mode: write
// params: tenant STRING, stems LIST<STRING>, items LIST<INTEGER>, near LIST<INTEGER>
CYPHER 25
UNWIND range(0, size($stems) - 1) AS i
MERGE (t:Term {tenant: $tenant, stem: $stems[i]})
ON CREATE SET t.items = $items[i], t.near = $near[i]
ON MATCH SET t.items = t.items + $items[i], t.near = t.near + $near[i]
