// doc: Fetch live episodes with their names and facts: all, those sent along, those of a model.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// returns: id STRING, title STRING, text STRING, role STRING, occurred_at DATETIME,
//   mentions LIST<STRING>, sent LIST<STRING>, read LIST<STRING>, sent_facts LIST<STRING>, read_facts INTEGER
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant AND e:LiveEpisode
RETURN e.id AS id, e.title AS title, e.text AS text, e.role AS role,
  e.occurred_at AS occurred_at,
  COLLECT { MATCH (e)-[:MENTIONS]->(c:Concept) RETURN c.normalised } AS mentions,
  COLLECT {
    MATCH (e)-[r:MENTIONS]->(c:Concept)
    WHERE r.stated AND r.by IS NULL
    RETURN c.normalised
  } AS sent,
  COLLECT { MATCH (e)-[r:MENTIONS]->(c:Concept) WHERE r.by IS NOT NULL RETURN c.normalised } AS read,
  COLLECT { MATCH (e)<-[r:EVIDENCE]-(f:Fact) WHERE r.by IS NULL RETURN f.id } AS sent_facts,
  COUNT { MATCH (e)<-[r:EVIDENCE]-(:Fact) WHERE r.by IS NOT NULL } AS read_facts
ORDER BY id
