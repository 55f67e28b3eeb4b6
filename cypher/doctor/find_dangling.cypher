// doc: Find facts and engrams without evidence, engrams of sessions with evidence elsewhere, and edges
//   between concepts whose fact is gone or retracted.
// mode: read
// params: tenant STRING
CYPHER 25
CALL () {
  MATCH (f:Fact)
  WHERE f.tenant = $tenant AND f.recorded_at IS NOT NULL
    AND NOT EXISTS { (f)-[:EVIDENCE]->(:Episode) }
  RETURN f.id AS id, 'a fact without evidence' AS detail
  UNION ALL
  MATCH (n:Name)
  WHERE n.tenant = $tenant AND n.normalised IS NOT NULL
  MATCH (n)-[r:RELATED]->()
  WHERE NOT EXISTS { MATCH (:Fact {id: r.fact}) }
  RETURN coalesce(n.id, n.normalised) AS id, 'RELATED by a fact that is gone' AS detail
  UNION ALL
  MATCH (f:Fact)
  WHERE f.tenant = $tenant AND f.recorded_at IS NOT NULL
  MATCH (f)-[:SUBJECT]->(:Concept)-[r:RELATED]->(:Concept)
  WHERE r.fact = f.id AND (r.weight = 0) <> (coalesce(f.standing, '') = 'retracted')
  RETURN f.id AS id,
    'a fact that is ' + CASE r.weight WHEN 0 THEN 'not ' ELSE '' END
      + 'retracted, and its RELATED weighs ' + r.weight AS detail
  UNION ALL
  MATCH (g:Engram)
  WHERE g.tenant = $tenant AND g.recorded_at IS NOT NULL
  RETURN g.id AS id, CASE
    WHEN NOT EXISTS { (g)-[:EVIDENCE]->(:Episode) } THEN 'an engram without evidence'
    WHEN g.kind = 'session' AND NOT EXISTS { (g)-[:SUMMARISES]->(:Session) }
      THEN 'an engram of no session'
    WHEN g.kind = 'session' AND EXISTS {
      MATCH (g)-[:EVIDENCE]->(e:Episode)
      WHERE NOT EXISTS { (g)-[:SUMMARISES]->(:Session)<-[:IN_SESSION]-(e) }
    } THEN 'an engram with evidence outside its session'
  END AS detail
}
// use: symptoms(id)
