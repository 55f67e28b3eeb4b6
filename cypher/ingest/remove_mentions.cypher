// doc: Part items from concepts they no longer mention, and count; without a description goes the
//   vector that was made of it.
// mode: write
// params: tenant STRING, rows LIST<MAP>
// plan: Eager all edges are found before the first is deleted, batches are small
CYPHER 25
UNWIND $rows AS row
MATCH (e:Episode {id: row.episode})-[r:MENTIONS]->(c:Concept)
WHERE e.tenant = $tenant AND c.normalised = row.concept
SET c.mentions = c.mentions - 1, c.touched = randomUUID()
// use: forgotten(c)
DELETE r
