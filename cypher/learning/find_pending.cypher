// doc: Load a trace that waits to be learned from.
// mode: read
// params: tenant STRING, id STRING
// returns: payload STRING
CYPHER 25
MATCH (p:Trace {id: $id})
WHERE p.tenant = $tenant AND p.pending_since IS NOT NULL
RETURN p.payload AS payload
