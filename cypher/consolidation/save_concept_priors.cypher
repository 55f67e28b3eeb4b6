// doc: Store the priors that a consolidation gave to concepts.
// mode: write
// params: tenant STRING, rows LIST<MAP>
CYPHER 25
UNWIND $rows AS row
MATCH (c:Concept {id: row.id})
WHERE c.tenant = $tenant
SET c.prior = row.prior
