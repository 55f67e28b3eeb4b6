// doc: Keep one job of a kind waiting and one begun in a tenant, and find what is due.
// mode: schema
CYPHER 25
CREATE CONSTRAINT job_slot IF NOT EXISTS FOR (n:Job) REQUIRE n.slot IS UNIQUE;

CYPHER 25
CREATE INDEX job_run_after IF NOT EXISTS FOR (n:Job) ON (n.run_after);

CYPHER 25
CREATE INDEX job_recorded_at IF NOT EXISTS FOR (n:Job) ON (n.tenant, n.recorded_at);
