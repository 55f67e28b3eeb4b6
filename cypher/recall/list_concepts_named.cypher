// doc: Look up live concepts by normalised name.
// mode: read
// params: tenant STRING, names LIST<STRING>
// each: id STRING, name STRING, normalised STRING, kind STRING, mentions INTEGER,
//   abouts INTEGER, lower BOOLEAN
CYPHER 25
UNWIND $names AS name
MATCH (c:Name {tenant: $tenant, normalised: name})
WHERE c:LiveConcept
WITH c, EXISTS { (:Word {tenant: $tenant, word: c.normalised}) } AS lower
ORDER BY c.normalised
RETURN collect(
  [c.id, c.name, c.normalised, c.kind, c.mentions, c.abouts, lower]
) AS rows
