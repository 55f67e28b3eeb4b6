// doc: One change of the embedding model at a time.
// mode: schema
CYPHER 25
CREATE CONSTRAINT reembedding_id IF NOT EXISTS FOR (n:Reembedding) REQUIRE n.id IS UNIQUE;
