// doc: Find engrams by the stems and by the vector of their summaries.
// mode: schema
// params: vectors MAP
CYPHER 25
CREATE FULLTEXT INDEX engram_terms IF NOT EXISTS
FOR (n:Engram) ON EACH [n.tenant, n.terms]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};

CYPHER 25
CREATE VECTOR INDEX engram_embedding IF NOT EXISTS
FOR (n:Engram) ON n.embedding
WITH [n.tenant]
OPTIONS $vectors;
