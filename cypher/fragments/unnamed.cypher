// doc: Keep the near concepts whose names no rule has compared, each pair once.
// params: above FLOAT
// each: one STRING, other STRING, kind STRING, other_kind STRING, cosine FLOAT
WITH node, b, 1 - vector_distance(
    vector(b.embedding, size(b.embedding), FLOAT32), here, COSINE
  ) AS cosine
// Not null: a concept may have been removed since the index was read.
WHERE b <> node AND cosine >= $above AND NOT EXISTS { (node)-[:SYNONYM|SAME_AS]-(b) }
WITH CASE WHEN node.normalised < b.normalised THEN [node, b] ELSE [b, node] END AS pair, cosine
WITH pair[0] AS one, pair[1] AS other, max(cosine) AS cosine
ORDER BY one.normalised, other.normalised
RETURN collect([one.normalised, other.normalised, one.kind, other.kind, cosine]) AS rows
