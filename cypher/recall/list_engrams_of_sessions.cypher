// doc: List the summaries of sessions, in the order asked; none that quotes what is not live.
// mode: read
// params: tenant STRING, sessions LIST<STRING>
// returns: id STRING, kind STRING, session STRING, summary STRING, members INTEGER,
//   evidence LIST<STRING>, method STRING, recorded_at DATETIME, topic STRING,
//   decisions LIST<MAP>, open_questions LIST<MAP>, valence FLOAT, novelty FLOAT
CYPHER 25
UNWIND range(0, size($sessions) - 1) AS place
MATCH (s:Session {tenant: $tenant, name: $sessions[place]})<-[:SUMMARISES]-(g:Engram)
WHERE g.tenant = $tenant AND NOT EXISTS {
  MATCH (g)-[:EVIDENCE]->(e:Episode)
  WHERE NOT e:LiveEpisode OR e.expires_at <= datetime()
}
WITH place, s, g
// use: recorded(g)
RETURN g.id AS id, g.kind AS kind, s.name AS session, g.summary AS summary,
  g.members AS members,
  COLLECT { MATCH (g)-[:EVIDENCE]->(e:Episode) RETURN e.id ORDER BY e.turn } AS evidence,
  g.method AS method, g.recorded_at AS recorded_at, topic, decisions, open_questions, valence,
  novelty
ORDER BY place, id
