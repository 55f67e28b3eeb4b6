// doc: Load every name of a tenant as parallel columns.
// mode: read
// params: tenant STRING
// returns: normalised LIST<STRING>, surface LIST<STRING>, kind LIST<STRING>,
//   titles LIST<INTEGER>, candidates LIST<INTEGER>, live LIST<BOOLEAN>
CYPHER 25
MATCH (n:Name)
WHERE n.tenant = $tenant AND n.normalised IS NOT NULL
WITH n
ORDER BY n.normalised
RETURN collect(n.normalised) AS normalised, collect(n.name) AS surface,
  collect(n.kind) AS kind, collect(n.titles) AS titles,
  collect(n.candidates) AS candidates, collect(n:Concept) AS live
