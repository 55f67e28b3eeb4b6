// doc: Note that a trace was learned from, or that it could not be, and count it.
// mode: write
// params: tenant STRING, id STRING, applied BOOLEAN, recalls INTEGER
CYPHER 25
MATCH (p:Trace {id: $id})
WHERE p.tenant = $tenant
REMOVE p.pending_since
SET p.effects_applied = $applied
WITH p
MATCH (t:Tenant {id: $tenant})
SET t.recall_total = t.recall_total + $recalls
