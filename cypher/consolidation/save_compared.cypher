// doc: Record how near the names of concepts are.
// mode: write
// params: tenant STRING, rows LIST<MAP>
// plan: Eager all are found before the first changes, chunks are small
CYPHER 25
UNWIND $rows AS row
MATCH (one:Name {tenant: $tenant, normalised: row.one})-[r:SYNONYM]-(other:Concept)
WHERE other.normalised = row.other
SET r.cosine = row.cosine
