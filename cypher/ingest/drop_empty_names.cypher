// doc: Delete those of the names that nothing has any more and that are no concepts.
// mode: write
// params: tenant STRING, names LIST<STRING>
// plan: Eager the index finds all of them before the first is deleted, batches are small
CYPHER 25
UNWIND $names AS name
MATCH (n:Name {tenant: $tenant, normalised: name})
WHERE n.titles <= 0 AND n.candidates <= 0 AND coalesce(n.stated, 0) <= 0 AND NOT n:Concept
DELETE n
