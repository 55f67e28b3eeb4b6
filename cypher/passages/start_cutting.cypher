// doc: Mark a tenant as not completely cut, and return the range of turns to cut.
// mode: write
// params: tenant STRING
// returns: after INTEGER, turn INTEGER
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL
SET t.cut_after = coalesce(t.cut_after, 0)
RETURN t.cut_after AS after, t.turn AS turn
