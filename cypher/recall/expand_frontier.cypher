// doc: List the live edges of a frontier, at most `fan` a node and type, as parallel columns.
// mode: read
// params: tenant STRING, frontier LIST<STRING>, fan INTEGER, floor FLOAT, now DATETIME,
//   associated BOOLEAN, related BOOLEAN, kind_of STRING, merged BOOLEAN
// returns: tail LIST<STRING>, head LIST<STRING>, edge LIST<STRING>, forward LIST<BOOLEAN>,
//   weight LIST<FLOAT>, degree LIST<INTEGER>, head_kind LIST<STRING>, head_label LIST<STRING>
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
      coalesce(b.title, b.speaker) AS head_label, b.turn AS tie
    ORDER BY weight DESC, tie
    LIMIT $fan
    UNION ALL
    MATCH (a)-[r:MENTIONS]->(b:LiveConcept)
    WHERE r.weight >= $floor
    RETURN b.id AS head, 'MENTIONS' AS edge, true AS forward, r.weight AS weight,
      COUNT { (a)-[:MENTIONS]->() } AS degree, 'concept' AS head_kind,
      b.name AS head_label, b.normalised AS tie
    ORDER BY weight DESC, tie
    LIMIT $fan
    UNION ALL
    MATCH (a)<-[r:ABOUT]-(b:LiveConcept)
    WHERE r.weight >= $floor
    RETURN b.id AS head, 'ABOUT' AS edge, false AS forward, r.weight AS weight,
      COUNT { (a)<-[:ABOUT]-() } AS degree, 'concept' AS head_kind,
      b.name AS head_label, b.normalised AS tie
    ORDER BY weight DESC, tie
    LIMIT $fan
    UNION ALL
    MATCH (a)-[r:SIMILAR]-(b:LiveEpisode)
    WHERE r.weight > 0 AND r.weight >= $floor
    WITH a, b, r, CASE
      WHEN r.last_used < $now
      THEN (1 + ($now.epochMillis - r.last_used.epochMillis) / 86400000.0) ^ -0.2
      ELSE 1.0
    END AS kept
    // The stored weight is that of the last write; what was learned has faded since.
    RETURN b.id AS head, 'SIMILAR' AS edge, startNode(r) = a AS forward,
      1 - (1 - coalesce(r.w_sim, 0.0)) * (1 - coalesce(r.w_lift, 0.0) * kept)
        * (1 - coalesce(r.w_learned, 0.0) * kept) AS weight,
      COUNT { (a)-[s:SIMILAR]-() WHERE s.weight > 0 } AS degree, 'episode' AS head_kind,
      coalesce(b.title, b.speaker) AS head_label, b.turn AS tie
    ORDER BY weight DESC, tie
    LIMIT $fan
  }
  RETURN place, tie, a.id AS tail, head, edge, forward, weight, degree, head_kind, head_label
  UNION ALL
  UNWIND range(0, size($frontier) - 1) AS place
  MATCH (a:Concept {id: $frontier[place]})
  WHERE a.tenant = $tenant AND a:LiveConcept
  CALL (a) {
    MATCH (a)<-[r:MENTIONS]-(b:LiveEpisode)
    WHERE r.weight >= $floor
    RETURN b.id AS head, 'MENTIONS' AS edge, false AS forward, r.weight AS weight,
      a.mentions AS degree, 'episode' AS head_kind, coalesce(b.title, b.speaker) AS head_label,
      b.turn AS tie
    ORDER BY weight DESC, tie
    LIMIT $fan
    UNION ALL
    MATCH (a)-[r:ABOUT]->(b:LiveEpisode)
    WHERE r.weight >= $floor
    RETURN b.id AS head, 'ABOUT' AS edge, true AS forward, r.weight AS weight,
      a.abouts AS degree, 'episode' AS head_kind, coalesce(b.title, b.speaker) AS head_label,
      b.turn AS tie
    ORDER BY weight DESC, tie
    LIMIT $fan
    UNION ALL
    MATCH (a)-[r:ASSOCIATED]-(b:LiveConcept)
    WHERE $associated AND r.weight > 0 AND r.weight >= $floor
    RETURN b.id AS head, 'ASSOCIATED' AS edge, startNode(r) = a AS forward, r.weight AS weight,
      COUNT { (a)-[s:ASSOCIATED]-() WHERE s.weight > 0 } AS degree, 'concept' AS head_kind,
      b.name AS head_label, b.normalised AS tie
    ORDER BY weight DESC, tie
    LIMIT $fan
    UNION ALL
    MATCH (a)-[r:RELATED]-(b:LiveConcept)
    WHERE ($related OR $kind_of <> '') AND r.weight > 0 AND r.weight >= $floor
    WITH a, b, r, $kind_of <> ''
      AND EXISTS { (f:Fact {id: r.fact}) WHERE f.relation = $kind_of } AS is_kind
    WHERE $related OR is_kind
    // Several facts may join two concepts; the best supported one counts.
    WITH a, b, startNode(r) = a AS forward, is_kind, max(r.weight) AS weight
    RETURN b.id AS head, CASE WHEN is_kind THEN 'KIND_OF' ELSE 'RELATED' END AS edge, forward,
      weight,
      COUNT { (a)-[s:RELATED]-() WHERE s.weight > 0 } AS degree, 'concept' AS head_kind,
      b.name AS head_label, b.normalised AS tie
    ORDER BY weight DESC, tie, forward, edge
    LIMIT $fan
    UNION ALL
    MATCH (a)-[r:SAME_AS]-(b:LiveConcept)
    WHERE $merged AND r.status = 'accepted' AND r.weight >= $floor
    RETURN b.id AS head, 'SAME_AS' AS edge, startNode(r) = a AS forward, r.weight AS weight,
      COUNT { (a)-[s:SAME_AS]-() WHERE s.status = 'accepted' } AS degree, 'concept' AS head_kind,
      b.name AS head_label, b.normalised AS tie
    ORDER BY weight DESC, tie
    LIMIT $fan
  }
  RETURN place, tie, a.id AS tail, head, edge, forward, weight, degree, head_kind, head_label
}
WITH *
ORDER BY weight DESC, place, edge, tie
RETURN collect(tail) AS tail, collect(head) AS head, collect(edge) AS edge,
  collect(forward) AS forward, collect(weight) AS weight, collect(degree) AS degree,
  collect(head_kind) AS head_kind, collect(head_label) AS head_label
