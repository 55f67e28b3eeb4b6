// doc: Give the best passages by score, ties by turn and place, with their episodes.
// params: limit INTEGER
// each: id STRING, session STRING, ordinal INTEGER, score FLOAT, part INTEGER
ORDER BY score DESC, node.turn, node.ordinal
LIMIT $limit
MATCH (node)<-[:HAS_PASSAGE]-(e:Episode)
WITH node, e, score
ORDER BY score DESC, node.turn, node.ordinal
RETURN collect([e.id, nullIf(e.session, ''), e.ordinal, score, node.ordinal]) AS rows
