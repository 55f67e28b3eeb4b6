// doc: Delete the emptied tenant node itself.
// mode: write
// params: tenant STRING
// returns: deleted INTEGER
CYPHER 25
MATCH (t:Tenant {id: $tenant})
DETACH DELETE t
RETURN count(*) AS deleted
