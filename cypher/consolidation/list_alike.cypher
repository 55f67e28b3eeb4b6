// doc: List concepts with nearly the same words whose names are not compared yet.
// mode: read
// params: tenant STRING
// each: one STRING, other STRING, kind STRING, other_kind STRING
CYPHER 25
MATCH (a:Name)
WHERE a.tenant = $tenant AND a.normalised IS NOT NULL AND a:Concept
MATCH (a)-[r:SYNONYM]->(b:Concept)
WHERE r.cosine IS NULL
WITH CASE WHEN a.normalised < b.normalised THEN [a, b] ELSE [b, a] END AS pair
WITH DISTINCT pair[0] AS one, pair[1] AS other
ORDER BY one.normalised, other.normalised
RETURN collect([one.normalised, other.normalised, one.kind, other.kind]) AS rows
