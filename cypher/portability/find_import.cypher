// doc: Show the progress of a tenant's import; no row without one.
// mode: read
// params: tenant STRING
// returns: digest STRING, done INTEGER
CYPHER 25
MATCH (i:Import {id: $tenant})
RETURN i.digest AS digest, i.done AS done
