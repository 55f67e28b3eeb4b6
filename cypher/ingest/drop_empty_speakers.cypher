// doc: Delete those of the speakers that said nothing that is still stored.
// mode: write
// params: tenant STRING, names LIST<STRING>
// plan: Eager the index finds all of them before the first is deleted, batches are small
CYPHER 25
UNWIND $names AS name
MATCH (p:Speaker {tenant: $tenant, name: name})
WHERE p.episodes <= 0
DETACH DELETE p
