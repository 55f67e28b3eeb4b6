// doc: Find engrams without evidence, and engrams of sessions with evidence elsewhere.
// mode: read
// params: tenant STRING, limit INTEGER
// returns: found INTEGER, id LIST<STRING>, detail LIST<STRING>
CYPHER 25
MATCH (g:Engram)
WHERE g.tenant = $tenant AND g.recorded_at IS NOT NULL
WITH g, CASE
  WHEN NOT EXISTS { (g)-[:EVIDENCE]->(:Episode) } THEN 'an engram without evidence'
  WHEN g.kind = 'session' AND NOT EXISTS { (g)-[:SUMMARISES]->(:Session) }
    THEN 'an engram of no session'
  WHEN g.kind = 'session' AND EXISTS {
    MATCH (g)-[:EVIDENCE]->(e:Episode)
    WHERE NOT EXISTS { (g)-[:SUMMARISES]->(:Session)<-[:IN_SESSION]-(e) }
  } THEN 'an engram with evidence outside its session'
END AS detail
WHERE detail IS NOT NULL
WITH g.id AS id, detail
ORDER BY id
RETURN count(*) AS found, collect(id)[..$limit] AS id, collect(detail)[..$limit] AS detail
