// doc: Fetch the bodies and mentions of live items that contain one of the phrases of a full-text
//   query, or of the dormant ones of some episodes.
// mode: read
// params: tenant STRING, query STRING, ids LIST<STRING>
// each: id STRING, title STRING, text STRING, mentions LIST<STRING>
CYPHER 25
WITH $tenant AS tenant
CALL (tenant) {
  WHEN $query IS NOT NULL THEN {
    CALL db.index.fulltext.queryNodes('episode_terms', $query) YIELD node
    WHERE node.tenant = tenant
    RETURN node AS e
  }
  ELSE {
    UNWIND $ids AS id
    MATCH (e:Episode {id: id})
    WHERE e.tenant = tenant AND e:DormantEpisode
    RETURN e
  }
}
WITH e
ORDER BY e.id
RETURN collect([
  e.id, e.title, e.text,
  COLLECT { MATCH (e)-[:MENTIONS]->(c:Concept) RETURN c.normalised }
]) AS rows
