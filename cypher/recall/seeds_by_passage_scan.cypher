// doc: Compare one by one, with a vector or a cue's stems, the passages of all live episodes that pass
//   filters, or of the newest dormant ones.
// mode: read
// params: tenant STRING, limit INTEGER
// each: id STRING, session STRING, ordinal INTEGER, score FLOAT, part INTEGER
CYPHER 25
// use: scanned(e)
MATCH (e)-[:HAS_PASSAGE]->(p:Passage)
// use: compared(p)
ORDER BY score DESC, e.turn, p.ordinal
LIMIT $limit
RETURN collect([e.id, nullIf(e.session, ''), e.ordinal, score, p.ordinal]) AS rows
