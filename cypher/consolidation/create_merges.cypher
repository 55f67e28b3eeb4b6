// doc: Propose merges of concepts, unless they have been.
// mode: write
// params: tenant STRING, rows LIST<MAP>
// plan: Eager all ends are found before the first edge is made, chunks are small
CYPHER 25
UNWIND $rows AS row
MATCH (one:Name {tenant: $tenant, normalised: row.one})
WHERE one:Concept
CALL (row) {
  MATCH (other:Name {tenant: $tenant, normalised: row.other})
  WHERE other:Concept
  RETURN other
}
MERGE (one)-[r:SAME_AS]->(other)
ON CREATE SET r.family = 'association', r.created_at = datetime(), r.weight = row.cosine,
  r.status = 'proposed', r.cosine = row.cosine, r.reason = row.reason
