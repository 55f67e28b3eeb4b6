// doc: Find jobs by id.
// mode: schema
CYPHER 25
CREATE CONSTRAINT job_id IF NOT EXISTS FOR (n:Job) REQUIRE n.id IS UNIQUE;
