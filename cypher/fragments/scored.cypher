// doc: Score nodes that an index found again by the exact cosine.
// params: vector VECTOR
WITH node, 1 - vector_distance(
    vector(node.embedding, vector_dimension_count($vector), FLOAT32), $vector, COSINE
  ) AS score
// The index may still name a node that lost its vector a moment ago.
WHERE score IS NOT NULL
