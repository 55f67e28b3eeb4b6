// doc: Take the migration lock if it is free or its lease has run out, or keep one's own.
// mode: write
// params: holder STRING, seconds INTEGER
// returns: holder STRING
CYPHER 25
MERGE (l:SchemaMigration {id: 'lock'})
SET l.touched = datetime()
WITH l
WHERE l.holder IS NULL OR l.holder = $holder OR l.until < datetime()
SET l.holder = $holder, l.until = datetime() + duration({seconds: $seconds})
RETURN l.holder AS holder
