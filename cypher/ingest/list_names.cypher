// doc: Load every name of a tenant.
// mode: read
// params: tenant STRING
// each: normalised STRING, surface STRING, kind STRING, titles INTEGER, candidates INTEGER,
//   live BOOLEAN
CYPHER 25
MATCH (n:Name)
WHERE n.tenant = $tenant AND n.normalised IS NOT NULL
WITH n
ORDER BY n.normalised
RETURN collect([n.normalised, n.name, n.kind, n.titles, n.candidates, n:Concept]) AS rows
