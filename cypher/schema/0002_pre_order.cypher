// doc: Walk a tenant's episodes by turn, by place and by time in a session, and its traces by age.
// mode: schema
CYPHER 25
CREATE INDEX episode_turn IF NOT EXISTS FOR (n:Episode) ON (n.tenant, n.turn);

CYPHER 25
CREATE INDEX episode_ordinal IF NOT EXISTS
FOR (n:Episode) ON (n.tenant, n.session, n.ordinal);

CYPHER 25
CREATE INDEX episode_occurred_at IF NOT EXISTS
FOR (n:Episode) ON (n.tenant, n.session, n.occurred_at);

CYPHER 25
CREATE INDEX trace_created_at IF NOT EXISTS FOR (n:Trace) ON (n.tenant, n.created_at);

CYPHER 25
CREATE INDEX api_key_tenant IF NOT EXISTS FOR (n:ApiKey) ON (n.tenant);
