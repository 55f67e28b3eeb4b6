// doc: Count, for each name, the items that came with it, where any did.
// mode: read
// params: tenant STRING, names LIST<STRING>
// each: name STRING, items INTEGER
CYPHER 25
UNWIND $names AS name
MATCH (n:Name {tenant: $tenant, normalised: name})
WHERE n.stated > 0
WITH n
ORDER BY n.normalised
RETURN collect([n.normalised, n.stated]) AS rows
