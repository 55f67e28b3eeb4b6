// doc: List a tenant's episodes by turn, from a cursor on.
// mode: read
// params: tenant STRING, after_turn INTEGER, limit INTEGER
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn > $after_turn
  // use: listed(e)
// use: whole(e)
ORDER BY tenant, turn
LIMIT $limit
