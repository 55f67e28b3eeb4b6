// doc: Put live episodes to sleep with their passages, unless pinned, each with the reason.
// mode: write
// params: tenant STRING, now DATETIME, rows LIST<MAP>
// returns: id STRING
// plan: Eager all are found before the first loses its label, batches are small
CYPHER 25
UNWIND $rows AS row
MATCH (e:Episode {id: row.id})
WHERE e.tenant = $tenant AND e:LiveEpisode AND e.pinned IS NULL
REMOVE e:LiveEpisode
SET e:DormantEpisode, e.dormant_at = $now, e.state_reason = row.reason
WITH e
CALL (e) {
  MATCH (e)-[:HAS_PASSAGE]->(p:Passage)
  REMOVE p:LivePassage
}
RETURN e.id AS id
