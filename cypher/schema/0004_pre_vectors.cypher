// doc: Find live episodes and concepts by vector, filtered inside the index.
// mode: schema
// params: vectors MAP
CYPHER 25
CREATE VECTOR INDEX episode_embedding IF NOT EXISTS
FOR (n:LiveEpisode) ON n.embedding
WITH [n.tenant, n.session, n.speaker, n.occurred_at]
OPTIONS $vectors;

CYPHER 25
CREATE VECTOR INDEX concept_embedding IF NOT EXISTS
FOR (n:LiveConcept) ON n.embedding
WITH [n.tenant]
OPTIONS $vectors;
