// doc: Load the record of a trace.
// mode: read
// params: tenant STRING, id STRING
// returns: payload STRING
CYPHER 25
MATCH (t:Trace {id: $id})
WHERE t.tenant = $tenant
RETURN t.payload AS payload
