// doc: List a tenant's engrams by id, of a kind if one is named, from a cursor on.
// mode: read
// params: tenant STRING, kind STRING, after STRING, limit INTEGER
// returns: id STRING, kind STRING, session STRING, summary STRING, members INTEGER,
//   evidence LIST<STRING>, method STRING, recorded_at DATETIME, topic STRING,
//   decisions LIST<MAP>, open_questions LIST<MAP>, valence FLOAT, novelty FLOAT
CYPHER 25
MATCH (g:Engram)
WHERE g.tenant = $tenant AND g.recorded_at IS NOT NULL AND g.id > $after
  AND ($kind IS NULL OR g.kind = $kind)
  AND NOT EXISTS {
    MATCH (g)-[:EVIDENCE]->(e:Episode) WHERE e.expires_at <= datetime()
  }
WITH g
ORDER BY g.id
LIMIT $limit
// use: recorded(g)
RETURN g.id AS id, g.kind AS kind,
  head(COLLECT { MATCH (g)-[:SUMMARISES]->(s:Session) RETURN s.name }) AS session,
  g.summary AS summary, g.members AS members,
  COLLECT { MATCH (g)-[:EVIDENCE]->(e:Episode) RETURN e.id ORDER BY e.turn } AS evidence,
  g.method AS method, g.recorded_at AS recorded_at, topic, decisions, open_questions, valence,
  novelty
ORDER BY id
