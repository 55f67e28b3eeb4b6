// doc: Record up to which turn and with which total a tenant is associated, and take marks away.
// mode: write
// params: tenant STRING, turn INTEGER, total INTEGER, rows LIST<MAP>
// plan: Eager all are found by their key before a mark that has an index goes
CYPHER 25
MATCH (t:Tenant {id: $tenant})
SET t.associated_total = coalesce($total, t.associated_total),
  t.associated_turn = CASE
    WHEN coalesce(t.associated_turn, 0) > $turn THEN t.associated_turn
    ELSE $turn
  END
WITH t
UNWIND $rows AS row
MATCH (e:Episode {id: row.id})
WHERE e.tenant = t.id AND e.touched = row.mark
REMOVE e.touched
