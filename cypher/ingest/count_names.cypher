// doc: Add to the counts of names; create new names; a type replaces none, and asks for a new vector.
// mode: write
// params: tenant STRING, names LIST<STRING>, surfaces LIST<STRING>, kinds LIST<STRING>,
//   titles LIST<INTEGER>, candidates LIST<INTEGER>, stated LIST<INTEGER>
// plan: Eager all names are counted before the first changes its type, batches are small
CYPHER 25
UNWIND range(0, size($names) - 1) AS i
MERGE (n:Name {tenant: $tenant, normalised: $names[i]})
ON CREATE SET n.name = $surfaces[i], n.kind = $kinds[i], n.titles = $titles[i],
  n.candidates = $candidates[i], n.stated = $stated[i]
ON MATCH SET n.titles = n.titles + $titles[i], n.candidates = n.candidates + $candidates[i],
  n.stated = coalesce(n.stated, 0) + $stated[i]
WITH n, $kinds[i] AS kind
WHERE n.kind = 'topic' AND kind <> 'topic'
SET n.kind = kind, n.embedding = null, n.embedding_1 = null, n.searched = null
