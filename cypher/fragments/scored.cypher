// doc: Score the nearest nodes that an index found again by the exact cosine.
// params: vector VECTOR, limit INTEGER
WITH node, found
ORDER BY found DESC, node.turn
// The index is not rounded: its scores differ in the last digits only, so a few more than the limit
// are enough, and the vectors of the others need not be read.
LIMIT $limit + 20
WITH node, 1 - vector_distance(
    vector(node.embedding, vector_dimension_count($vector), FLOAT32), $vector, COSINE
  ) AS score
// The index may still name a node that lost its vector a moment ago.
WHERE score IS NOT NULL
