// doc: Give the best passages by score, ties by turn and place, with their episodes.
// params: limit INTEGER
// each: passage STRING, episode STRING, session STRING, ordinal INTEGER, part INTEGER, score FLOAT
ORDER BY score DESC, node.turn, node.ordinal
LIMIT $limit
MATCH (node)<-[:HAS_PASSAGE]-(e:Episode)
WITH node, e, score
ORDER BY score DESC, node.turn, node.ordinal
RETURN collect([node.id, e.id, nullIf(e.session, ''), e.ordinal, node.ordinal, score]) AS rows
