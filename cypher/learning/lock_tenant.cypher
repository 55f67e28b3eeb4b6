// doc: Take the tenant's write lock, then read how many recalls it learned from.
// mode: write
// params: tenant STRING
// returns: recalls INTEGER
CYPHER 25
MATCH (t:Tenant {id: $tenant})
// A write that changes something locks the node until the commit; one that does not may not.
SET t.locked_at = datetime()
WITH t
WHERE t.erasing IS NULL
RETURN coalesce(t.recall_total, 0) AS recalls
