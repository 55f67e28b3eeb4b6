// doc: Find episodes by the end of their lives.
// mode: schema
CYPHER 25
CREATE INDEX episode_expires_at IF NOT EXISTS FOR (n:Episode) ON (n.tenant, n.expires_at);
