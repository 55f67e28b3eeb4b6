// doc: Remove episodes with their edges, and tell in which sessions they were.
// mode: write
// params: tenant STRING, ids LIST<STRING>
// returns: session STRING
// plan: Eager all are found before the first is deleted, batches are small
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
CALL (e) {
  MATCH (e)-[:MENTIONS]->(c:Concept)
  SET c.mentions = c.mentions - 1, c.touched = randomUUID()
}
CALL (e) {
  MATCH (e)<-[:ABOUT]-(c:Concept)
  SET c.abouts = c.abouts - 1
}
WITH e, e.session AS session
DETACH DELETE e
RETURN DISTINCT session
ORDER BY session
