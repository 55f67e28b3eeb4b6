// doc: Unmark concepts that were associated again.
// mode: write
// params: tenant STRING, rows LIST<MAP>
// plan: Eager all are found by their key before a mark that has an index goes
CYPHER 25
UNWIND $rows AS row
MATCH (c:Concept {id: row.id})
WHERE c.tenant = $tenant AND c.touched = row.mark
REMOVE c.touched
