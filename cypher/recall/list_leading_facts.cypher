// doc: List facts about the subjects with the highest prior, then with most memories, each with
//   the live episodes that state it; none whose stored time is over, and no denials.
// mode: read
// params: tenant STRING, speakers LIST<STRING>, subjects INTEGER, facts INTEGER
// returns: fact STRING, key MAP, episodes LIST<STRING>
CYPHER 25
MATCH (f:Fact)
WHERE f.tenant = $tenant AND f.recorded_at IS NOT NULL AND NOT f.negated
  AND (f.held_from IS NULL OR any(
    place IN range(0, size(f.held_from) - 1)
    WHERE f.held_from[place] <= datetime() AND datetime() < f.held_until[place]
  ))
  AND EXISTS {
    MATCH (f)-[:EVIDENCE]->(e:LiveEpisode)
    WHERE coalesce(e.expires_at > datetime(), true)
      AND ($speakers IS NULL OR e.speaker IN $speakers)
  }
OPTIONAL MATCH (f)-[:SUBJECT]->(c:Concept)
WITH f, coalesce(c.prior, 0.0) AS prior, coalesce(c.mentions + c.abouts, 0) AS memories
ORDER BY f.recorded_at DESC, f.id
WITH f.subject AS subject, max(prior) AS prior, max(memories) AS memories,
  collect(f)[..$facts] AS facts
ORDER BY prior DESC, memories DESC, subject
LIMIT $subjects
UNWIND facts AS f
RETURN f.id AS fact, {subject: f.subject, relation: f.relation, qualifier: f.qualifier} AS key,
  COLLECT {
    MATCH (f)-[:EVIDENCE]->(e:LiveEpisode)
    WHERE coalesce(e.expires_at > datetime(), true)
      AND ($speakers IS NULL OR e.speaker IN $speakers)
    RETURN DISTINCT e.id ORDER BY e.id
  } AS episodes
ORDER BY prior DESC, memories DESC, subject, fact
