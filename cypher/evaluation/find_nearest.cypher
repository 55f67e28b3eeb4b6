// doc: Ask the vector index for a tenant's ten nearest episodes: the yardstick of every latency.
// mode: read
// params: tenant STRING, vector VECTOR
// returns: id STRING, score FLOAT
CYPHER 25
MATCH (e:LiveEpisode)
SEARCH e IN (
  VECTOR INDEX episode_embedding
  FOR $vector
  WHERE e.tenant = $tenant
  LIMIT 10
) SCORE AS score
RETURN e.id AS id, score
ORDER BY score DESC, id
