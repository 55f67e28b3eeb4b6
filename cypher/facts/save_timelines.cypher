// doc: Keep where facts stand in time; what a retracted one relates is related by it no more.
// mode: write
// params: tenant STRING, rows LIST<MAP>
// plan: Eager every fact is found before the first changes its place
CYPHER 25
UNWIND $rows AS row
MATCH (f:Fact {id: row.fact})
WHERE f.tenant = $tenant
WITH f, row, coalesce(row.standing, '') = 'retracted' AS wrong,
  coalesce(f.standing, '') = 'retracted' AS was_wrong
SET f.standing = row.standing, f.held_from = row.held_from, f.held_until = row.held_until,
  f.valid_from = row.valid_from, f.valid_to = row.valid_to,
  f.superseded_by = row.superseded_by, f.contested_by = row.contested_by, f.touched = null
WITH f, wrong, was_wrong
WHERE wrong <> was_wrong
MATCH (f)-[:SUBJECT]->(:Concept)-[r:RELATED]->(:Concept)
WHERE r.fact = f.id
SET r.weight = CASE WHEN wrong THEN 0.0 ELSE 1.0 END
