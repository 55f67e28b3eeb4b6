// doc: Join concepts whose names have nearly the same words.
// mode: write
// params: tenant STRING, rows LIST<MAP>
// plan: CartesianProduct of the two concepts that a unique key finds
CYPHER 25
UNWIND $rows AS row
MATCH (one:Name {tenant: $tenant, normalised: row.one})
WITH row, one
MATCH (other:Name {tenant: $tenant, normalised: row.other})
CREATE (one)-[:SYNONYM {
  family: 'association', weight: row.weight, created_at: datetime()
}]->(other)
