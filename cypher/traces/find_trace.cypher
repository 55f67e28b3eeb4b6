// doc: Load the record of a trace; if wanted, only one that waits to be learned from.
// mode: read
// params: tenant STRING, id STRING, pending_only BOOLEAN
// returns: payload JSON
CYPHER 25
MATCH (t:Trace {id: $id})
WHERE t.tenant = $tenant AND (NOT $pending_only OR t.pending_since IS NOT NULL)
RETURN t.payload AS payload
