// doc: Fetch the bodies and mentions of the dormant ones of the episodes.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// each: id STRING, title STRING, text STRING, mentions LIST<STRING>
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant AND e:DormantEpisode
WITH e
ORDER BY e.id
RETURN collect([
  e.id, e.title, e.text,
  COLLECT { MATCH (e)-[:MENTIONS]->(c:Concept) RETURN c.normalised }
]) AS rows
