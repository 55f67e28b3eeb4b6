// doc: Note on episodes by which model and prompt they were read.
// mode: write
// params: tenant STRING, rows LIST<MAP>
CYPHER 25
UNWIND $rows AS row
MATCH (e:Episode {id: row.id})
WHERE e.tenant = $tenant
SET e.extracted_by = row.extracted_by
