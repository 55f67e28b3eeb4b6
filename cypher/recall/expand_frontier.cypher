// doc: List the live edges of a frontier, at most `fan` a node and type, as parallel columns.
// mode: read
// params: tenant STRING, frontier LIST<STRING>, fan INTEGER, floor FLOAT
// returns: tail LIST<STRING>, head LIST<STRING>, edge LIST<STRING>, forward LIST<BOOLEAN>,
//   weight LIST<FLOAT>, degree LIST<INTEGER>, head_kind LIST<STRING>, head_label LIST<STRING>,
//   head_degree LIST<INTEGER>
CYPHER 25
CALL () {
  UNWIND range(0, size($frontier) - 1) AS place
  MATCH (a:Episode {id: $frontier[place]})
  WHERE a.tenant = $tenant AND a:LiveEpisode
  CALL (a) {
    MATCH (a)-[r:NEXT]-(b:LiveEpisode)
    WHERE r.weight >= $floor
    RETURN b.id AS head, 'NEXT' AS edge, startNode(r) = a AS forward, r.weight AS weight,
      COUNT { (a)-[:NEXT]-() } AS degree, 'episode' AS head_kind,
      coalesce(b.title, b.speaker) AS head_label, 0 AS head_degree, b.turn AS tie
    ORDER BY weight DESC, tie
    LIMIT $fan
    UNION ALL
    MATCH (a)-[r:MENTIONS]->(b:LiveConcept)
    WHERE r.weight >= $floor
    RETURN b.id AS head, 'MENTIONS' AS edge, true AS forward, r.weight AS weight,
      COUNT { (a)-[:MENTIONS]->() } AS degree, 'concept' AS head_kind,
      b.name AS head_label, b.mentions + b.abouts AS head_degree, b.normalised AS tie
    ORDER BY weight DESC, tie
    LIMIT $fan
    UNION ALL
    MATCH (a)<-[r:ABOUT]-(b:LiveConcept)
    WHERE r.weight >= $floor
    RETURN b.id AS head, 'ABOUT' AS edge, false AS forward, r.weight AS weight,
      COUNT { (a)<-[:ABOUT]-() } AS degree, 'concept' AS head_kind,
      b.name AS head_label, b.mentions + b.abouts AS head_degree, b.normalised AS tie
    ORDER BY weight DESC, tie
    LIMIT $fan
  }
  RETURN place, tie, a.id AS tail, head, edge, forward, weight, degree, head_kind, head_label,
    head_degree
  UNION ALL
  UNWIND range(0, size($frontier) - 1) AS place
  MATCH (a:Concept {id: $frontier[place]})
  WHERE a.tenant = $tenant AND a:LiveConcept
  CALL (a) {
    MATCH (a)<-[r:MENTIONS]-(b:LiveEpisode)
    WHERE r.weight >= $floor
    RETURN b.id AS head, 'MENTIONS' AS edge, false AS forward, r.weight AS weight,
      a.mentions AS degree, coalesce(b.title, b.speaker) AS head_label, b.turn AS tie
    ORDER BY weight DESC, tie
    LIMIT $fan
    UNION ALL
    MATCH (a)-[r:ABOUT]->(b:LiveEpisode)
    WHERE r.weight >= $floor
    RETURN b.id AS head, 'ABOUT' AS edge, true AS forward, r.weight AS weight,
      a.abouts AS degree, coalesce(b.title, b.speaker) AS head_label, b.turn AS tie
    ORDER BY weight DESC, tie
    LIMIT $fan
  }
  RETURN place, tie, a.id AS tail, head, edge, forward, weight, degree,
    'episode' AS head_kind, head_label, 0 AS head_degree
}
WITH *
ORDER BY weight DESC, place, edge, tie
RETURN collect(tail) AS tail, collect(head) AS head, collect(edge) AS edge,
  collect(forward) AS forward, collect(weight) AS weight, collect(degree) AS degree,
  collect(head_kind) AS head_kind, collect(head_label) AS head_label,
  collect(head_degree) AS head_degree
