// doc: One import of a tenant at a time.
// mode: schema
CYPHER 25
CREATE CONSTRAINT import_id IF NOT EXISTS FOR (n:Import) REQUIRE n.id IS UNIQUE;
