// doc: Keep on the tenant that a life ends at these instants, if none ends earlier.
// mode: write
// params: tenant STRING, ends LIST<DATETIME>
CYPHER 25
MATCH (t:Tenant {id: $tenant})
UNWIND $ends AS ends
WITH t, min(ends) AS first
WHERE t.expires_from IS NULL OR t.expires_from > first
SET t.expires_from = first
