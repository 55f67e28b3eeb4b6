// doc: List a tenant's sessions by name, from a cursor on, with their counts.
// mode: read
// params: tenant STRING, after STRING, limit INTEGER
// returns: name STRING, episodes INTEGER, first_occurred_at DATETIME,
//   last_occurred_at DATETIME, speakers LIST<STRING>, summary STRING
CYPHER 25
MATCH (s:Session)
WHERE s.tenant = $tenant AND s.name > $after
  AND EXISTS {
    MATCH (s)<-[:IN_SESSION]-(e:Episode) WHERE coalesce(e.expires_at > datetime(), true)
  }
WITH s
ORDER BY s.name
LIMIT $limit
CALL (s) {
  MATCH (s)<-[:IN_SESSION]-(e:Episode)
  WHERE coalesce(e.expires_at > datetime(), true)
  WITH e
  ORDER BY e.speaker
  RETURN count(e) AS episodes, min(e.occurred_at) AS first_occurred_at,
    max(e.occurred_at) AS last_occurred_at,
    collect(DISTINCT nullIf(e.speaker, '')) AS speakers
}
RETURN s.name AS name, episodes, first_occurred_at, last_occurred_at, speakers,
  head(COLLECT { 
    MATCH (g:Engram)-[:SUMMARISES]->(s)
    WHERE NOT EXISTS {
      MATCH (g)-[:EVIDENCE]->(e:Episode) WHERE e.expires_at <= datetime()
    }
    RETURN g.summary
  }) AS summary
ORDER BY name
