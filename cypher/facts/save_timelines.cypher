// doc: Keep where facts stand in time; the relation of a retracted fact weighs nothing.
// mode: write
// params: tenant STRING, rows LIST<MAP>
// plan: Eager every fact is found before the first changes its place
CYPHER 25
MATCH (t:Tenant {id: $tenant})
SET t.timed = CASE
  WHEN any(row IN $rows WHERE row.standing IS NOT NULL) THEN true
  ELSE t.timed
END
WITH t
UNWIND $rows AS row
MATCH (f:Fact {id: row.fact})
WHERE f.tenant = t.id
WITH f, row, coalesce(row.standing, '') = 'retracted' AS wrong,
  coalesce(f.standing, '') = 'retracted' AS was_wrong
SET f.standing = row.standing, f.held_from = row.held_from, f.held_until = row.held_until,
  f.valid_from = row.valid_from, f.valid_to = row.valid_to,
  f.superseded_by = row.superseded_by, f.contested_by = row.contested_by, f.touched = null
WITH f, wrong, was_wrong
WHERE wrong <> was_wrong
// use: supported(f)
