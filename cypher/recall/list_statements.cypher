// doc: List the facts that episodes state, of each episode those nearest to a vector.
// mode: read
// params: tenant STRING, ids LIST<STRING>, vector VECTOR, most INTEGER, retracted BOOLEAN,
//   known_at DATETIME
// returns: episode LIST<STRING>, fact LIST<STRING>, subject LIST<STRING>,
//   statement LIST<STRING>, cosine LIST<FLOAT>
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
CALL (e) {
  MATCH (e)<-[r:EVIDENCE]-(f:Fact)
  // What a model read in an episode was known when it had read it.
  WHERE f.tenant = $tenant AND (f.standing IS NULL OR f.standing <> 'retracted' OR $retracted)
    AND ($known_at IS NULL OR r.by IS NULL OR r.created_at <= $known_at)
  WITH DISTINCT f
  WITH f, CASE WHEN $vector IS NULL OR f.embedding IS NULL THEN 0.0 ELSE 1 - vector_distance(
      vector(f.embedding, vector_dimension_count($vector), FLOAT32), $vector, COSINE
    ) END AS cosine
  RETURN f, cosine
  ORDER BY cosine DESC, f.id
  LIMIT $most
}
WITH e, f, cosine
ORDER BY e.id, cosine DESC, f.id
RETURN collect(e.id) AS episode, collect(f.id) AS fact, collect(f.subject) AS subject,
  collect(f.statement) AS statement, collect(cosine) AS cosine
