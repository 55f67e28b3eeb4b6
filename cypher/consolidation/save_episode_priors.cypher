// doc: Store the priors that a consolidation gave to episodes.
// mode: write
// params: tenant STRING, rows LIST<MAP>
CYPHER 25
UNWIND $rows AS row
MATCH (e:Episode {id: row.id})
WHERE e.tenant = $tenant AND NOT e:ArchivedEpisode
SET e.prior = row.prior
