// doc: Find turns with more than one turn before or after them, or with the wrong or no next one.
// mode: read
// params: tenant STRING
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn IS NOT NULL
WITH e.id AS id, CASE
  WHEN COUNT { (e)-[:NEXT]->() } > 1 THEN 'has several next turns'
  WHEN COUNT { (e)<-[:NEXT]-() } > 1 THEN 'is the next of several turns'
  WHEN EXISTS {
    MATCH (e)-[:NEXT]->(o:Episode)
    WHERE o.session <> e.session OR o.ordinal <> e.ordinal + 1
  } THEN 'has a next turn that does not follow it'
  WHEN NOT EXISTS { (e)-[:NEXT]->() } AND EXISTS {
    MATCH (o:Episode)
    WHERE o.tenant = $tenant AND o.session = e.session AND o.ordinal = e.ordinal + 1
  } THEN 'has no NEXT to the turn that follows it'
END AS detail
// use: symptoms(id)
