// doc: Find the traces of recalls that were not learned from yet, oldest first.
// mode: schema
CYPHER 25
CREATE INDEX trace_pending_since IF NOT EXISTS FOR (n:Trace) ON (n.tenant, n.pending_since);
