// doc: Remove the engrams in which words of episodes about to go are, and mark their sessions.
// mode: write
// params: tenant STRING, ids LIST<STRING>
// plan: Eager all are found before the first is deleted, batches are small
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
CALL (e) {
  MATCH (e)-[:IN_SESSION]->(s:Session)
  SET s.touched = randomUUID()
}
MATCH (e)<-[:EVIDENCE]-(g:Engram)
WITH DISTINCT g
DETACH DELETE g
