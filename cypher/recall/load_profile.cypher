// doc: Read the tenant statistics that ranking needs.
// mode: read
// params: tenant STRING
// returns: items INTEGER, length INTEGER, near_length FLOAT, titles INTEGER,
//   change INTEGER, deletions INTEGER, participants LIST<STRING>
CYPHER 25
MATCH (t:Tenant {id: $tenant})
WHERE t.erasing IS NULL
RETURN t.items AS items, t.length AS length, t.near_length AS near_length,
  t.titles AS titles, t.change AS change, t.turn - t.items AS deletions,
  COLLECT {
    MATCH (p:Speaker)
    WHERE p.tenant = $tenant AND p.name IS NOT NULL
    RETURN p.name
    ORDER BY p.episodes DESC, p.name
    LIMIT 1000
  } AS participants
