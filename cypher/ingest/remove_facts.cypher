// doc: Remove the facts whose only evidence is episodes to be deleted, with their edges.
// mode: write
// params: tenant STRING, ids LIST<STRING>
// plan: Eager all are found before the first is deleted, batches are small
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})<-[:EVIDENCE]-(f:Fact)
WHERE e.tenant = $tenant
WITH DISTINCT f
WHERE NOT EXISTS {
  MATCH (f)-[:EVIDENCE]->(other:Episode)
  WHERE NOT other.id IN $ids
}
OPTIONAL MATCH (f)-[:SUBJECT]->(:Concept)-[r:RELATED]->(:Concept)
WHERE r.fact = f.id
DELETE r
WITH DISTINCT f
OPTIONAL MATCH (f)<-[:DECIDES]-(d:Decision)
DETACH DELETE d
WITH DISTINCT f
DETACH DELETE f
