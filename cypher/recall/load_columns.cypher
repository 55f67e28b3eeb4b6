// doc: Fetch live episodes by id and by window of a session, as parallel columns.
// mode: read
// params: tenant STRING, ids LIST<STRING>, windows LIST<MAP>, vector VECTOR
// returns: id LIST<STRING>, turn LIST<INTEGER>, session LIST<STRING>, ordinal LIST<INTEGER>,
//   speaker LIST<STRING>, occurred_ms LIST<INTEGER>, terms LIST<STRING>, length LIST<FLOAT>,
//   near_length LIST<FLOAT>, context_norm LIST<FLOAT>, length_prior LIST<FLOAT>,
//   is_question LIST<BOOLEAN>, time_expression LIST<BOOLEAN>, first_person LIST<BOOLEAN>,
//   second_person LIST<BOOLEAN>, title LIST<STRING>, cosine LIST<FLOAT>
CYPHER 25
CALL () {
  UNWIND $ids AS id
  MATCH (e:Episode {id: id})
  WHERE e.tenant = $tenant AND e:LiveEpisode
  RETURN e
  UNION
  UNWIND $windows AS w
  MATCH (e:Episode)
  WHERE e.tenant = $tenant AND e.session = w.session
    AND e.ordinal >= w.first AND e.ordinal <= w.last AND e:LiveEpisode
  RETURN e
}
WITH e, e.session AS session, coalesce(e.ordinal, -1) AS ordinal, e.turn AS turn
ORDER BY session, ordinal, turn
RETURN collect(e.id) AS id, collect(turn) AS turn, collect(session) AS session,
  collect(ordinal) AS ordinal, collect(e.speaker) AS speaker,
  collect(e.occurred_at.epochMillis) AS occurred_ms, collect(e.terms) AS terms,
  collect(e.length) AS length, collect(e.near_length) AS near_length,
  collect(e.context_norm) AS context_norm, collect(e.length_prior) AS length_prior,
  collect(e.is_question) AS is_question, collect(e.time_expression) AS time_expression,
  collect(e.first_person) AS first_person, collect(e.second_person) AS second_person,
  collect(coalesce(e.title, '')) AS title,
  collect(CASE WHEN $vector IS NOT NULL THEN 1 - vector_distance(
    vector(e.embedding, vector_dimension_count($vector), FLOAT32), $vector, COSINE
  ) END) AS cosine
