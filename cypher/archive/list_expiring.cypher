// doc: List the episodes whose life has an end, the soonest first, from a cursor on.
// mode: read
// params: tenant STRING, after INTEGER, after_id STRING, limit INTEGER
CYPHER 25
WITH datetime({epochSeconds: $after / 1000000, nanosecond: 1000 * ($after % 1000000)}) AS after
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.expires_at >= after AND e.expires_at > datetime()
  // By OR the server might read all that expire later, and sort them.
  AND CASE WHEN e.expires_at = after THEN e.id > $after_id ELSE true END
WITH e
ORDER BY e.tenant, e.expires_at, e.id
LIMIT $limit
// use: used(e)
// use: whole(e)
ORDER BY expires_at, id
