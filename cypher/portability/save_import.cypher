// doc: Begin the import of a tenant, or note how many lines of it are stored.
// mode: write
// params: tenant STRING, digest STRING, done INTEGER
CYPHER 25
MERGE (i:Import {id: $tenant})
ON CREATE SET i.recorded_at = datetime()
SET i.digest = $digest, i.done = $done
