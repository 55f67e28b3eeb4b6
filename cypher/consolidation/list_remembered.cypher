// doc: Find live episodes by turn, with the columns of the replay score.
// mode: read
// params: tenant STRING, turns LIST<INTEGER>
// each: id STRING, turn INTEGER, occurred_at DATETIME, salience FLOAT, own BOOLEAN,
//   question BOOLEAN, open BOOLEAN, valence FLOAT
CYPHER 25
UNWIND $turns AS turn
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn = turn AND e:LiveEpisode
// use: important(e)
WITH e, importance
ORDER BY e.turn
RETURN collect([
  e.id, e.turn, e.occurred_at, importance,
  e.first_person, e.is_question,
  EXISTS { MATCH (g:Engram)-[:EVIDENCE]->(e) WHERE e.id IN g.asked_in },
  coalesce(COLLECT { MATCH (g:Engram)-[:EVIDENCE]->(e) RETURN max(abs(g.valence)) }[0], 0.0)
]) AS rows
