// doc: Give the migration lock back if one still holds it.
// mode: write
// params: holder STRING
CYPHER 25
MATCH (l:SchemaMigration {id: 'lock'})
WHERE l.holder = $holder
REMOVE l.holder, l.until
