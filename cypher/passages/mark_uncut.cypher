// doc: Mark a tenant as not cut from the first of some episodes on.
// mode: write
// params: tenant STRING, ids LIST<STRING>
CYPHER 25
MATCH (t:Tenant {id: $tenant})
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
WITH t, min(e.turn) - 1 AS before
SET t.cut_after = CASE
  WHEN t.cut_after IS NULL OR t.cut_after > before THEN before
  ELSE t.cut_after
END
