// doc: Turn concept nodes back into mere names, without their edges.
// mode: write
// params: tenant STRING, names LIST<STRING>
// plan: Eager the labels are taken away before the edges are looked for, batches are small
CYPHER 25
UNWIND $names AS name
MATCH (c:Name {tenant: $tenant, normalised: name})
REMOVE c:Concept:LiveConcept, c.id, c.mentions, c.abouts, c.recorded_at, c.embedding,
  c.embedding_1, c.searched, c.touched
WITH c
MATCH (c)-[r]-()
DELETE r
