// doc: End a key; one that has ended keeps its first end.
// mode: write
// params: id STRING, revoked_at DATETIME
// returns: id STRING
CYPHER 25
MATCH (k:ApiKey {id: $id})
SET k.revoked_at = coalesce(k.revoked_at, $revoked_at)
RETURN k.id AS id
