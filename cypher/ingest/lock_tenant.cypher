// doc: Take the tenant's write lock, then read its counters.
// mode: write
// params: tenant STRING
// returns: change INTEGER, turn INTEGER
CYPHER 25
MATCH (t:Tenant {id: $tenant})
// Removing a property that is not there writes nothing, but locks the node until the commit.
REMOVE t.lock
WITH t
WHERE t.erasing IS NULL
RETURN t.change AS change, t.turn AS turn
