// doc: List MENTIONS of a frontier as if each turn of a window of its session mentioned the
//   concepts of the others, as parallel columns.
// mode: read
// params: tenant STRING, frontier LIST<STRING>, fan INTEGER, floor FLOAT, window INTEGER
// returns: tail LIST<STRING>, head LIST<STRING>, edge LIST<STRING>, forward LIST<BOOLEAN>,
//   weight LIST<FLOAT>, degree LIST<INTEGER>, head_kind LIST<STRING>, head_label LIST<STRING>
CYPHER 25
CALL () {
  UNWIND range(0, size($frontier) - 1) AS place
  MATCH (a:Episode {id: $frontier[place]})
  WHERE a.tenant = $tenant AND a:LiveEpisode AND a.session IS NOT NULL
  WITH place, a.id AS tail, a.session AS session, a.ordinal - a.ordinal % $window AS first
  CALL (session, first) {
    MATCH (t:Episode)
    USING INDEX SEEK t:Episode(tenant, session, ordinal)
    WHERE t.tenant = $tenant AND t.session = session
      AND t.ordinal >= first AND t.ordinal < first + $window AND t:LiveEpisode
    MATCH (t)-[r:MENTIONS]->(c:LiveConcept)
    WITH c, max(r.weight) AS weight
    WITH collect({concept: c, weight: weight}) AS found
    UNWIND found AS one
    WITH one.concept AS c, one.weight AS weight, size(found) AS degree
    WHERE weight >= $floor
    RETURN c, weight, degree
    ORDER BY weight DESC, c.normalised
    LIMIT $fan
  }
  RETURN place, c.normalised AS tie, tail, c.id AS head, true AS forward, weight, degree,
    'concept' AS head_kind, c.name AS head_label
  UNION ALL
  UNWIND range(0, size($frontier) - 1) AS place
  MATCH (c:Concept {id: $frontier[place]})
  WHERE c.tenant = $tenant AND c:LiveConcept
  CALL (c) {
    MATCH (c)<-[r:MENTIONS]-(m:LiveEpisode)
    WHERE r.weight >= $floor
    WITH m, r.weight AS weight
    ORDER BY weight DESC, m.turn
    LIMIT $fan
    WITH m.session AS session, m.ordinal - m.ordinal % $window AS first, weight
    WHERE session IS NOT NULL
    MATCH (t:Episode)
    USING INDEX SEEK t:Episode(tenant, session, ordinal)
    WHERE t.tenant = $tenant AND t.session = session
      AND t.ordinal >= first AND t.ordinal < first + $window AND t:LiveEpisode
    WITH t, max(weight) AS weight
    WITH collect({turn: t, weight: weight}) AS found
    UNWIND found AS one
    WITH one.turn AS t, one.weight AS weight, size(found) AS degree
    RETURN t, weight, degree
    ORDER BY weight DESC, t.turn
    LIMIT $fan
  }
  RETURN place, t.turn AS tie, c.id AS tail, t.id AS head, false AS forward, weight, degree,
    'episode' AS head_kind, coalesce(t.title, t.speaker) AS head_label
}
WITH *
ORDER BY weight DESC, place, tie
RETURN collect(tail) AS tail, collect(head) AS head, collect('MENTIONS') AS edge,
  collect(forward) AS forward, collect(weight) AS weight, collect(degree) AS degree,
  collect(head_kind) AS head_kind, collect(coalesce(head_label, '')) AS head_label
