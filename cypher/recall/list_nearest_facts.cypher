// doc: Search the vector index for the nearest facts that join two concepts, with these.
// mode: read
// params: tenant STRING, vector VECTOR, fetch INTEGER, limit INTEGER,
//   retracted BOOLEAN
// returns: fact LIST<STRING>, statement LIST<STRING>, cosine LIST<FLOAT>, edge LIST<STRING>,
//   concept LIST<STRING>, label LIST<STRING>, mentions LIST<INTEGER>, abouts LIST<INTEGER>
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
  WHERE (f.standing IS NULL OR f.standing <> 'retracted' OR $retracted)
    AND EXISTS { (f)-[:SUBJECT]->(:LiveConcept) } AND EXISTS { (f)-[:OBJECT]->(:LiveConcept) }
  RETURN f, score AS cosine
  ORDER BY cosine DESC, f.id
  LIMIT $limit
}
MATCH (f)-[r:SUBJECT|OBJECT]->(c:LiveConcept)
WITH f, cosine, type(r) AS edge, c
ORDER BY cosine DESC, f.id, edge DESC
RETURN collect(f.id) AS fact, collect(f.statement) AS statement, collect(cosine) AS cosine,
  collect(edge) AS edge, collect(c.id) AS concept, collect(c.name) AS label,
  collect(c.mentions) AS mentions, collect(c.abouts) AS abouts
