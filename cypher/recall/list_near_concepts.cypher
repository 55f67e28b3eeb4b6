// doc: Search the vector index for the concepts nearest to a cue, inside the tenant.
// mode: read
// params: tenant STRING, vector VECTOR, fetch INTEGER, limit INTEGER
// returns: id STRING, name STRING, cosine FLOAT
CYPHER 25
MATCH (c:LiveConcept)
SEARCH c IN (
  VECTOR INDEX concept_embedding
  FOR $vector
  WHERE c.tenant = $tenant
  LIMIT $fetch
) SCORE AS found
// use: scored(c)
RETURN c.id AS id, c.name AS name, score AS cosine
ORDER BY cosine DESC, c.normalised
LIMIT $limit
