// doc: List the episodes of a session, or those that mention a concept or are about it, by turn, or
//   the newest first, from a cursor on.
// mode: read
// params: tenant STRING, concept STRING, session STRING, sign INTEGER, after INTEGER,
//   limit INTEGER
CYPHER 25
WITH $tenant AS tenant
CALL (tenant) {
  WHEN $concept IS NOT NULL THEN {
    MATCH (:Name {tenant: tenant, normalised: $concept})-[:MENTIONS|ABOUT]-(e:Episode)
    WHERE $session IS NULL OR e.session = $session
    RETURN DISTINCT e
  }
  ELSE {
    MATCH (:Session {tenant: tenant, name: $session})<-[:IN_SESSION]-(e:Episode)
    RETURN e
  }
}
WITH e
WHERE $sign * e.turn > $after
  // use: listed(e)
// use: whole(e)
ORDER BY $sign * turn
LIMIT $limit
