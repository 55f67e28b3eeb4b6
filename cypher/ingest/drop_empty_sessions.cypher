// doc: Delete those of the sessions that hold no episode.
// mode: write
// params: tenant STRING, names LIST<STRING>
// plan: Eager the index finds all of them before the first is deleted, batches are small
CYPHER 25
UNWIND $names AS name
MATCH (s:Session {tenant: $tenant, name: name})
WHERE NOT EXISTS { (s)<-[:IN_SESSION]-() }
DETACH DELETE s
