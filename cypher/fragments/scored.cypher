// doc: Give the cosines of the nodes that an index found.
// The index is not quantised, so its score is exact: half of 1 plus the cosine.
WITH node, 2 * found - 1 AS score
// The index may still name a node that lost its vector a moment ago.
WHERE node.embedding IS NOT NULL
