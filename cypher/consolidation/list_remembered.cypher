// doc: Find live episodes by turn, with the columns of the replay score.
// mode: read
// params: tenant STRING, turns LIST<INTEGER>
// each: id STRING, turn INTEGER, occurred_at DATETIME, salience FLOAT, own BOOLEAN,
//   question BOOLEAN
CYPHER 25
UNWIND $turns AS turn
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn = turn AND e:LiveEpisode
WITH e
ORDER BY e.turn
RETURN collect([
  e.id, e.turn, e.occurred_at, coalesce(e.salience, e.importance),
  e.first_person, e.is_question
]) AS rows
