// doc: Add to the counts of names; create new names.
// mode: write
// params: tenant STRING, names LIST<STRING>, surfaces LIST<STRING>, kinds LIST<STRING>,
//   titles LIST<INTEGER>, candidates LIST<INTEGER>, stated LIST<INTEGER>
CYPHER 25
UNWIND range(0, size($names) - 1) AS i
MERGE (n:Name {tenant: $tenant, normalised: $names[i]})
ON CREATE SET n.name = $surfaces[i], n.kind = $kinds[i], n.titles = $titles[i],
  n.candidates = $candidates[i], n.stated = $stated[i]
ON MATCH SET n.titles = n.titles + $titles[i], n.candidates = n.candidates + $candidates[i],
  n.stated = coalesce(n.stated, 0) + $stated[i]
