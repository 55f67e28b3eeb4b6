// doc: Delete one batch of a tenant's passages with their edges, and count it.
// mode: write
// params: tenant STRING, batch INTEGER
// returns: deleted INTEGER
CYPHER 25
MATCH (n:Passage)
WHERE n.tenant = $tenant AND n.turn IS NOT NULL
WITH n
LIMIT $batch
DETACH DELETE n
RETURN count(*) AS deleted
