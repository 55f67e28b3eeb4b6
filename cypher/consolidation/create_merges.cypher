// doc: Record how near the names of concepts are, propose those with a reason as merges, unless they
//   have been, and record the generation of the vectors around which merges were searched.
// mode: write
// params: tenant STRING, rows LIST<MAP>, searched LIST<STRING>, generation INTEGER
// plan: Eager all ends are found before the first edge is made, chunks are small
CYPHER 25
CALL () {
  UNWIND $searched AS id
  MATCH (c:Concept {id: id})
  WHERE c.tenant = $tenant
  SET c.searched = $generation
}
UNWIND $rows AS row
MATCH (one:Name {tenant: $tenant, normalised: row.one})
WHERE one:Concept
CALL (row) {
  MATCH (other:Name {tenant: $tenant, normalised: row.other})
  WHERE other:Concept
  RETURN other
}
// Ingest has joined names that differ in at most one word.
OPTIONAL MATCH (one)-[alike:SYNONYM]-(other)
SET alike.cosine = row.cosine
WITH row, one, other
WHERE row.reason <> ''
MERGE (one)-[r:SAME_AS]->(other)
ON CREATE SET r.family = 'association', r.created_at = datetime(), r.weight = row.cosine,
  r.status = 'proposed', r.cosine = row.cosine, r.reason = row.reason
