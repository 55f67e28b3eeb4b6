// doc: Give stored turns the place and the derived columns their new neighbours call for.
// mode: write
// params: tenant STRING, rows LIST<MAP>
CYPHER 25
UNWIND $rows AS row
MATCH (e:Episode {id: row.id})
WHERE e.tenant = $tenant
SET e.ordinal = row.ordinal, e.near_length = row.near_length,
  e.context_norm = row.context_norm
