// doc: Find facts without evidence, and edges between concepts whose fact is gone or retracted.
// mode: read
// params: tenant STRING, limit INTEGER
// returns: found INTEGER, id LIST<STRING>, detail LIST<STRING>
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
}
WITH id, detail
ORDER BY id, detail
RETURN count(*) AS found, collect(id)[..$limit] AS id, collect(detail)[..$limit] AS detail
