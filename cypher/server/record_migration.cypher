// doc: Remember that a schema file was applied.
// mode: write
// params: id STRING, checksum STRING
CYPHER 25
MERGE (m:SchemaMigration {id: $id})
SET m.checksum = $checksum, m.applied_at = datetime()
