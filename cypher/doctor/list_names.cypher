// doc: List how many items have each name as their title, and how many as a candidate.
// mode: read
// params: tenant STRING
// each: name STRING, counts MAP
CYPHER 25
MATCH (n:Name)
WHERE n.tenant = $tenant AND n.normalised IS NOT NULL
WITH n
ORDER BY n.normalised
RETURN collect([n.normalised, {titles: n.titles, candidates: n.candidates}]) AS rows
