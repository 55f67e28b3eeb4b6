// doc: Remove the passages of episodes, and subtract them from the counts.
// mode: write
// params: tenant STRING, ids LIST<STRING>
// plan: Eager all are found before the first is deleted, batches are small
CYPHER 25
MATCH (t:Tenant {id: $tenant})
UNWIND $ids AS id
MATCH (e:Episode {id: id})-[:HAS_PASSAGE]->(p:Passage)
WHERE e.tenant = $tenant
WITH t, p
DETACH DELETE p
WITH t, count(*) AS gone
SET t.passages = t.passages - gone
