// doc: List the memories of a session that are live or dormant, have not expired and had occurred
//   by then, in their order.
// mode: read
// params: tenant STRING, session STRING, as_of DATETIME, limit INTEGER
// returns: id STRING
CYPHER 25
MATCH (:Session {tenant: $tenant, name: $session})<-[:IN_SESSION]-(e:Episode)
WHERE NOT e:ArchivedEpisode AND coalesce(e.expires_at > datetime(), true)
  AND ($as_of IS NULL OR e.occurred_at <= $as_of)
RETURN e.id AS id
ORDER BY e.ordinal, e.turn, id
LIMIT $limit
