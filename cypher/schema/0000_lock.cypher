// doc: Let one migrator at a time hold the lock node; applied before the lock, every time.
// mode: schema
CYPHER 25
CREATE CONSTRAINT schema_migration_id IF NOT EXISTS
FOR (m:SchemaMigration) REQUIRE m.id IS UNIQUE;
