// What woke this trace
//
// The latest recall as a picture: the cue, the ten memories it woke in their order, and for
// each of these the best seed within three steps, with a shortest way from it over time,
// concepts and facts. A memory that is a seed itself is joined to the cue twice.
// For another recall, put its id between the quotes; the query "What was asked lately" lists
// the ids.
WITH '' AS wanted
MATCH (trace:Trace)
WHERE wanted = '' OR trace.id = wanted
WITH trace
ORDER BY trace.created_at DESC, trace.id
LIMIT 1
MATCH woken = (trace)-[woke:WOKE]->(memory:Episode)
WITH trace, woken, woke.rank AS rank, memory
ORDER BY rank, memory.id
LIMIT 10
OPTIONAL CALL (trace, memory) {
  MATCH started = (trace)-[seeded:SEEDED]->(seed)
  MATCH way = SHORTEST 1
    (seed)(()-[:NEXT|MENTIONS|ABOUT|RELATED|SYNONYM|SUBJECT|OBJECT]-()){0,3}(memory)
  RETURN started, way
  ORDER BY length(way), seeded.energy DESC, seed.id
  LIMIT 1
}
RETURN rank, woken, started, way
ORDER BY rank, memory.id
LIMIT 10
