// doc: Remove episodes with their edges, and the vectors of concepts that they describe.
// mode: write
// params: tenant STRING, ids LIST<STRING>
// plan: Eager all are found before the first is deleted, batches are small
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
CALL (e) {
  MATCH (e)-[r:MENTIONS]->(c:Concept)
  SET c.mentions = c.mentions - 1, c.touched = randomUUID()
  // use: forgotten(c)
}
CALL (e) {
  MATCH (e)<-[:ABOUT]-(c:Concept)
  SET c.abouts = c.abouts - 1
}
// The same key makes the same id again: a retry that comes late must not bring the episode back.
FOREACH (key IN CASE WHEN e.idempotency_key IS NULL THEN [] ELSE [e.id] END |
  MERGE (b:Tombstone {id: key})
  SET b.tenant = $tenant, b.erased_at = datetime())
DETACH DELETE e
