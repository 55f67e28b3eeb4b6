// doc: Score one by one: the cosine to a vector, or without one the number of a cue's stems.
// params: vector VECTOR, stems LIST<STRING>
WITH *, CASE WHEN $vector IS NULL THEN ' ' + node.terms + ' ' END AS terms
WITH *, CASE
  WHEN $vector IS NULL
  THEN nullIf(size([stem IN $stems WHERE terms CONTAINS ' ' + stem + ' ']) * 1.0, 0.0)
  ELSE 1 - vector_distance(
    vector(node.embedding, vector_dimension_count($vector), FLOAT32), $vector, COSINE
  )
END AS score
// An episode that was archived a moment ago has no vector and no stems.
WHERE score IS NOT NULL
