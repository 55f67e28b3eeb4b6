// doc: Find the nodes whose surroundings changed since the last consolidation.
// mode: schema
CYPHER 25
CREATE INDEX episode_touched IF NOT EXISTS FOR (n:Episode) ON (n.tenant, n.touched);

CYPHER 25
CREATE INDEX concept_touched IF NOT EXISTS FOR (n:Concept) ON (n.tenant, n.touched);

CYPHER 25
CREATE INDEX session_touched IF NOT EXISTS FOR (n:Session) ON (n.tenant, n.touched);

CYPHER 25
CREATE CONSTRAINT engram_id IF NOT EXISTS FOR (n:Engram) REQUIRE n.id IS UNIQUE;

CYPHER 25
CREATE INDEX engram_recorded_at IF NOT EXISTS FOR (n:Engram) ON (n.tenant, n.recorded_at);
