// doc: Record up to which turn and with which total a tenant is associated, store the numbers of near
//   episodes with the bounds of the nearest ones, and take marks away.
// mode: write
// params: tenant STRING, turn INTEGER, total INTEGER, crowds LIST<MAP>, rows LIST<MAP>
// plan: Eager all are found by their key before a mark that has an index goes
CYPHER 25
MATCH (t:Tenant {id: $tenant})
SET t.associated_total = coalesce($total, t.associated_total),
  t.associated_turn = CASE
    WHEN t.associated_turn > $turn THEN t.associated_turn
    ELSE $turn
  END
WITH t
CALL () {
  UNWIND $crowds AS row
  MATCH (e:Episode {id: row.id})
  WHERE e.tenant = $tenant AND NOT e:ArchivedEpisode
  SET e.crowd = row.size, e.crowd_cosine = row.cosine, e.crowd_turn = row.turn
}
UNWIND $rows AS row
MATCH (e:Episode {id: row.id})
WHERE e.tenant = t.id AND e.touched = row.mark
REMOVE e.touched
