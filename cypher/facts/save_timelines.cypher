// doc: Keep where facts stand in time.
// mode: write
// params: tenant STRING, rows LIST<MAP>
CYPHER 25
UNWIND $rows AS row
MATCH (f:Fact {id: row.fact})
WHERE f.tenant = $tenant
SET f.standing = row.standing, f.held_from = row.held_from, f.held_until = row.held_until,
  f.valid_from = row.valid_from, f.valid_to = row.valid_to,
  f.superseded_by = row.superseded_by, f.contested_by = row.contested_by, f.touched = null
