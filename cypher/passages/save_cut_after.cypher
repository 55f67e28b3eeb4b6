// doc: Store the turn up to which a tenant is cut, or none for all, and count new passages.
// mode: write
// params: tenant STRING, after INTEGER, cuts INTEGER
CYPHER 25
MATCH (t:Tenant {id: $tenant})
SET t.cut_after = $after, t.cuts = coalesce(t.cuts, 0) + $cuts
