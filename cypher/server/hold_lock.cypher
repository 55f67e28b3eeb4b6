// doc: Take the migration lock if it is free or its lease has run out, keep one's own, or give it back
//   after no seconds.
// mode: write
// params: holder STRING, seconds INTEGER
// plan: Eager one node, found before it changes
// returns: holder STRING
CYPHER 25
MERGE (l:SchemaMigration {id: 'lock'})
SET l.touched = datetime()
WITH l
WHERE l.holder IS NULL OR l.holder = $holder OR l.until < datetime()
SET l.holder = CASE WHEN $seconds > 0 THEN $holder END,
  l.until = datetime() + duration({seconds: $seconds})
RETURN $holder AS holder
