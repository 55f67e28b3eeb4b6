// doc: Give the best episodes by score, ties by turn.
// params: limit INTEGER
// each: id STRING, session STRING, ordinal INTEGER, score FLOAT
ORDER BY score DESC, node.turn
LIMIT $limit
RETURN collect([node.id, nullIf(node.session, ''), node.ordinal, score]) AS rows
