// doc: Pin an episode that has not expired, so that it is never put to sleep, or let it go with null.
// mode: write
// params: tenant STRING, id STRING, pinned BOOLEAN
// returns: id STRING
CYPHER 25
MATCH (e:Episode {id: $id})
WHERE e.tenant = $tenant AND coalesce(e.expires_at > datetime(), true)
SET e.pinned = $pinned
RETURN e.id AS id
