// doc: Search the vector index of facts, and list the live episodes that state the nearest ones.
// mode: read
// params: tenant STRING, vector VECTOR, fetch INTEGER, limit INTEGER, retracted BOOLEAN,
//   known_at DATETIME
// returns: id STRING, session STRING, ordinal INTEGER, score FLOAT, fact STRING
CYPHER 25
CALL () {
  MATCH (f:LiveFact)
  SEARCH f IN (
    VECTOR INDEX fact_embedding
    FOR $vector
    WHERE f.tenant = $tenant
    LIMIT $fetch
  ) SCORE AS found
  // use: scored(f)
  WITH f, score
  WHERE f.standing IS NULL OR f.standing <> 'retracted' OR $retracted
  RETURN f, score
  ORDER BY score DESC, f.id
  LIMIT $limit
}
MATCH (f)-[r:EVIDENCE]->(e:LiveEpisode)
// What a model read in an episode was known when it had read it.
WHERE e.tenant = $tenant
  AND ($known_at IS NULL OR r.by IS NULL OR r.created_at <= $known_at)
WITH DISTINCT e, score, f
ORDER BY score DESC, f.id, e.turn
LIMIT $limit
RETURN e.id AS id, nullIf(e.session, '') AS session, e.ordinal AS ordinal, score, f.id AS fact
