// doc: Delete the engrams of a session.
// mode: write
// params: tenant STRING, session STRING
// plan: Eager all are found before the first is deleted; a session has one
CYPHER 25
MATCH (g:Engram)-[:SUMMARISES]->(s:Session {tenant: $tenant, name: $session})
DETACH DELETE g
