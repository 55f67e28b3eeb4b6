// doc: Look up live concepts by normalised name.
// mode: read
// params: tenant STRING, names LIST<STRING>
// returns: id STRING, name STRING, normalised STRING, kind STRING, mentions INTEGER,
//   abouts INTEGER, lower BOOLEAN
CYPHER 25
UNWIND $names AS name
MATCH (c:Name {tenant: $tenant, normalised: name})
WHERE c:LiveConcept
RETURN c.id AS id, c.name AS name, c.normalised AS normalised, c.kind AS kind,
  c.mentions AS mentions, c.abouts AS abouts,
  EXISTS { (:Word {tenant: $tenant, word: c.normalised}) } AS lower
ORDER BY normalised
