// doc: Read engrams by id, with their cosine to a vector if one is given.
// mode: read
// params: tenant STRING, ids LIST<STRING>, vector VECTOR
// returns: id STRING, kind STRING, session STRING, summary STRING, members INTEGER,
//   evidence LIST<STRING>, method STRING, recorded_at DATETIME, cosine FLOAT
CYPHER 25
UNWIND $ids AS wanted
MATCH (g:Engram {id: wanted})
WHERE g.tenant = $tenant
RETURN g.id AS id, g.kind AS kind,
  head(COLLECT { MATCH (g)-[:SUMMARISES]->(s:Session) RETURN s.name }) AS session,
  g.summary AS summary, g.members AS members,
  COLLECT { MATCH (g)-[:EVIDENCE]->(e:Episode) RETURN e.id ORDER BY e.turn } AS evidence,
  g.method AS method, g.recorded_at AS recorded_at,
  CASE WHEN $vector IS NULL THEN 0.0 ELSE coalesce(1 - vector_distance(
    vector(g.embedding, vector_dimension_count($vector), FLOAT32), $vector, COSINE
  ), 0.0) END AS cosine
ORDER BY id
