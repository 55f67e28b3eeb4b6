// doc: Find passages of long episodes by stems and by vector, and mark who has episodes from before.
// mode: schema
// params: vectors MAP
CYPHER 25
CREATE CONSTRAINT passage_id IF NOT EXISTS FOR (n:Passage) REQUIRE n.id IS UNIQUE;

CYPHER 25
CREATE INDEX passage_turn IF NOT EXISTS FOR (n:Passage) ON (n.tenant, n.turn);

CYPHER 25
CREATE FULLTEXT INDEX passage_terms IF NOT EXISTS
FOR (n:LivePassage) ON EACH [n.tenant, n.terms]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};

CYPHER 25
CREATE VECTOR INDEX passage_embedding IF NOT EXISTS
FOR (n:LivePassage) ON n.embedding
WITH [n.tenant, n.session, n.speaker, n.occurred_at]
OPTIONS $vectors;

CYPHER 25
MATCH (t:Tenant)
WHERE t.turn > 0 AND t.cut_after IS NULL
CALL (t) {
  SET t.cut_after = 0
} IN TRANSACTIONS OF 1000 ROWS;
