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
)
WITH c, 1 - vector_distance(
    vector(c.embedding, vector_dimension_count($vector), FLOAT32), $vector, COSINE
  ) AS cosine
// A concept may have been removed since the index was read.
WHERE cosine IS NOT NULL
RETURN c.id AS id, c.name AS name, cosine
ORDER BY cosine DESC, c.normalised
LIMIT $limit
