// doc: Find the tenant's own classes of predicates.
// mode: read
// params: tenant STRING
// returns: classes STRING
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL
RETURN t.classes AS classes
