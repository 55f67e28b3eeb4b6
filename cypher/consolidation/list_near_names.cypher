// doc: Search the vector index around concepts for near ones that no rule of names has compared.
// mode: read
// params: tenant STRING, concepts LIST<STRING>, fetch INTEGER, above FLOAT
// each: one STRING, other STRING, kind STRING, other_kind STRING, cosine FLOAT
CYPHER 25
UNWIND $concepts AS id
MATCH (a:Concept {id: id})
WHERE a.tenant = $tenant AND a:LiveConcept AND a.embedding IS NOT NULL
CALL (a) {
  WITH a, vector(a.embedding, size(a.embedding), FLOAT32) AS here
  MATCH (b:LiveConcept)
  SEARCH b IN (
    VECTOR INDEX concept_embedding
    FOR here
    WHERE b.tenant = $tenant
    LIMIT $fetch
  )
  WITH b, 1 - vector_distance(
      vector(b.embedding, size(b.embedding), FLOAT32), here, COSINE
    ) AS cosine
  // Not null: a concept may have been removed since the index was read.
  WHERE b <> a AND cosine >= $above
  RETURN b, cosine
}
WITH a, b, cosine
WHERE NOT EXISTS { (a)-[:SYNONYM|SAME_AS]-(b) }
WITH CASE WHEN a.normalised < b.normalised THEN [a, b] ELSE [b, a] END AS pair, cosine
WITH pair[0] AS one, pair[1] AS other, max(cosine) AS cosine
ORDER BY one.normalised, other.normalised
RETURN collect([one.normalised, other.normalised, one.kind, other.kind, cosine]) AS rows
