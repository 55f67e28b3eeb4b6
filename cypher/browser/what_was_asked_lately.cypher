// What was asked lately
//
// The last recalls with the strategy that served them and the memory each put first.
// Copy an id into the query "What woke this trace".
MATCH (trace:Trace)
WITH trace
ORDER BY trace.created_at DESC, trace.id
LIMIT 25
OPTIONAL MATCH (trace)-[woke:WOKE {rank: 1}]->(best:Episode)
RETURN trace.created_at AS asked_at, trace.cue AS cue, trace.strategy AS strategy,
       best.speaker AS speaker, best.text AS first_hit, woke.score AS score, trace.id AS id
ORDER BY asked_at DESC, id
LIMIT 25
