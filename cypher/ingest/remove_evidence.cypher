// doc: Part episodes from their facts, or only from those that a model found; a fact without
//   evidence goes, and what the others relate is weighed anew.
// mode: write
// params: tenant STRING, ids LIST<STRING>, every BOOLEAN
// plan: Eager all are found before the first is deleted, batches are small
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})<-[r:EVIDENCE]-(f:Fact)
WHERE e.tenant = $tenant AND ($every OR r.by IS NOT NULL)
DELETE r
WITH DISTINCT f
CALL (f) {
  // use: supported(f)
}
WITH f
WHERE NOT EXISTS { (f)-[:EVIDENCE]->() }
OPTIONAL MATCH (f)-[:SUBJECT]->(:Concept)-[related:RELATED]->(:Concept)
WHERE related.fact = f.id
DELETE related
WITH DISTINCT f
OPTIONAL MATCH (f)<-[:DECIDES]-(d:Decision)
DETACH DELETE d
WITH DISTINCT f
DETACH DELETE f
