// doc: Find items by namespace and key, by vector, and by the end of their lives.
// mode: schema
// params: vectors MAP
CYPHER 25
CREATE CONSTRAINT item_address IF NOT EXISTS
FOR (n:Item) REQUIRE (n.tenant, n.path, n.key) IS UNIQUE;

CYPHER 25
CREATE INDEX item_expires_at IF NOT EXISTS FOR (n:Item) ON (n.tenant, n.expires_at);

CYPHER 25
CREATE INDEX item_updated_at IF NOT EXISTS FOR (n:Item) ON (n.tenant, n.updated_at, n.key);

CYPHER 25
CREATE VECTOR INDEX item_embedding IF NOT EXISTS
FOR (n:Item) ON n.embedding
WITH [n.tenant, n.path]
OPTIONS $vectors;
