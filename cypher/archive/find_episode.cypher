// doc: Fetch one episode, live or not, and one whose life is over if wanted.
// mode: read
// params: tenant STRING, id STRING, expired BOOLEAN
CYPHER 25
MATCH (e:Episode {id: $id})
WHERE e.tenant = $tenant AND ($expired OR coalesce(e.expires_at > datetime(), true))
// use: used(e)
// use: whole(e)
