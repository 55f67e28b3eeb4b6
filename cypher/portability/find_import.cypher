// doc: Tell how far the import of a tenant has come; no row where none is under way.
// mode: read
// params: tenant STRING
// returns: digest STRING, done INTEGER
CYPHER 25
MATCH (i:Import {id: $tenant})
RETURN i.digest AS digest, i.done AS done
