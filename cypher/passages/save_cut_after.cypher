// doc: Keep up to which turn a tenant is cut; all is cut with none; count what was given passages.
// mode: write
// params: tenant STRING, after INTEGER, cuts INTEGER
CYPHER 25
MATCH (t:Tenant {id: $tenant})
SET t.cut_after = $after, t.cuts = coalesce(t.cuts, 0) + $cuts
