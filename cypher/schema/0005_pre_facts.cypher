// doc: Find facts by vector inside a tenant, and concepts by the forms of their names.
// mode: schema
// params: vectors MAP
CYPHER 25
CREATE CONSTRAINT fact_id IF NOT EXISTS FOR (n:Fact) REQUIRE n.id IS UNIQUE;

CYPHER 25
CREATE INDEX fact_recorded_at IF NOT EXISTS FOR (n:Fact) ON (n.tenant, n.recorded_at);

CYPHER 25
CREATE FULLTEXT INDEX concept_forms IF NOT EXISTS
FOR (n:LiveConcept) ON EACH [n.tenant, n.forms]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};

CYPHER 25
CREATE VECTOR INDEX fact_embedding IF NOT EXISTS
FOR (n:LiveFact) ON n.embedding
WITH [n.tenant]
OPTIONS $vectors;
