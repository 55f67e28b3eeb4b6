// doc: Delete those of the stems that no item has any more.
// mode: write
// params: tenant STRING, stems LIST<STRING>
// plan: Eager the index finds all of them before the first is deleted, batches are small
CYPHER 25
UNWIND $stems AS stem
MATCH (t:Term {tenant: $tenant, stem: stem})
WHERE t.items <= 0 AND t.near <= 0
DELETE t
