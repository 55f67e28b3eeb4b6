// doc: List a tenant's episodes, those with given ids, those of a session, or those that mention a
//   concept or are about it, by turn, or the newest first, from a cursor on.
// mode: read
// params: tenant STRING, ids LIST<STRING>, concept STRING, session STRING, newest BOOLEAN,
//   after_turn INTEGER, before_turn INTEGER, limit INTEGER
CYPHER 25
WITH $tenant AS tenant
CALL (tenant) {
  WHEN $ids IS NOT NULL THEN {
    UNWIND $ids AS id
    MATCH (e:Episode {id: id})
    WHERE e.tenant = tenant AND ($session IS NULL OR e.session = $session)
      AND ($concept IS NULL OR EXISTS {
        MATCH (:Name {tenant: tenant, normalised: $concept})-[:MENTIONS|ABOUT]-(e)
      })
    RETURN DISTINCT e
  }
  WHEN $concept IS NOT NULL THEN {
    MATCH (:Name {tenant: tenant, normalised: $concept})-[:MENTIONS|ABOUT]-(e:Episode)
    WHERE $session IS NULL OR e.session = $session
    RETURN DISTINCT e
  }
  WHEN $session IS NOT NULL THEN {
    MATCH (:Session {tenant: tenant, name: $session})<-[:IN_SESSION]-(e:Episode)
    RETURN e
  }
  // Both walk the index of turns, so that a page reads no more than its episodes.
  WHEN $newest THEN {
    MATCH (e:Episode)
    WHERE e.tenant = tenant AND e.turn < $before_turn
      // use: listed(e)
    RETURN e
    ORDER BY e.tenant DESC, e.turn DESC
    LIMIT $limit
  }
  ELSE {
    MATCH (e:Episode)
    WHERE e.tenant = tenant AND e.turn > $after_turn
      // use: listed(e)
    RETURN e
    ORDER BY e.tenant, e.turn
    LIMIT $limit
  }
}
WITH e
WHERE e.turn > $after_turn AND e.turn < $before_turn
  // use: listed(e)
// use: used(e)
// use: whole(e)
ORDER BY CASE WHEN $newest THEN -turn ELSE turn END
LIMIT $limit
