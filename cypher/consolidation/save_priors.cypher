// doc: Store the priors that a consolidation gave to episodes or to concepts.
// mode: write
// params: tenant STRING, rows LIST<MAP>, concepts BOOLEAN
CYPHER 25
UNWIND $rows AS row
CALL (row) {
  WHEN $concepts THEN {
    MATCH (n:Concept {id: row.id})
    WHERE n.tenant = $tenant
    RETURN n
  }
  ELSE {
    MATCH (n:Episode {id: row.id})
    WHERE n.tenant = $tenant AND NOT n:ArchivedEpisode
    RETURN n
  }
}
SET n.prior = row.prior
