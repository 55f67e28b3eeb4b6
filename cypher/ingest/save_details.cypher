// doc: Replace the metadata of an episode, unless null is given, and the end of its life.
// mode: write
// params: tenant STRING, id STRING, metadata STRING, expires_at DATETIME
CYPHER 25
MATCH (e:Episode {id: $id})
WHERE e.tenant = $tenant
SET e.metadata = coalesce($metadata, e.metadata), e.expires_at = $expires_at
