// doc: Load the stored states of some names.
// mode: read
// params: tenant STRING, names LIST<STRING>
// returns: normalised STRING, surface STRING, kind STRING, titles INTEGER, candidates INTEGER,
//   live BOOLEAN
CYPHER 25
UNWIND $names AS name
MATCH (n:Name {tenant: $tenant, normalised: name})
RETURN n.normalised AS normalised, n.name AS surface, n.kind AS kind, n.titles AS titles,
  n.candidates AS candidates, n:Concept AS live
ORDER BY normalised
