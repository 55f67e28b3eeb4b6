// doc: List a tenant's episodes by turn, the newest first, from before a cursor on.
// mode: read
// params: tenant STRING, before_turn INTEGER, limit INTEGER
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn < $before_turn
  // use: listed(e)
// use: whole(e)
ORDER BY tenant DESC, turn DESC
LIMIT $limit
