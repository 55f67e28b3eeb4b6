// doc: Make dormant episodes live again with their passages, and mark them, for they are near others again.
// mode: write
// params: tenant STRING, ids LIST<STRING>
// plan: Eager all are found before the first changes its label, batches are small
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant AND e:DormantEpisode
REMOVE e:DormantEpisode, e.dormant_at, e.state_reason
SET e:LiveEpisode, e.touched = randomUUID()
WITH e
MATCH (e)-[:HAS_PASSAGE]->(p:Passage)
SET p:LivePassage
