// doc: List the schema files that were applied, with their checksums.
// mode: read
// returns: id STRING, checksum STRING
CYPHER 25
MATCH (m:SchemaMigration)
WHERE m.id <> 'lock'
RETURN m.id AS id, m.checksum AS checksum
ORDER BY id
