// doc: Count one more change, and whether it kept all names and words; add to the tenant's totals.
// mode: write
// params: tenant STRING, appended INTEGER, items INTEGER, titles INTEGER, length INTEGER,
//   stated INTEGER, kept INTEGER
CYPHER 25
MATCH (t:Tenant {id: $tenant})
SET t.change = t.change + 1,
  t.turn = t.turn + $appended,
  t.items = t.items + $items,
  t.titles = t.titles + $titles,
  t.length = t.length + $length,
  t.stated = coalesce(t.stated, 0) + $stated,
  t.names_kept = coalesce(t.names_kept, 0) + $kept
