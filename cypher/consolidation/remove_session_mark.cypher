// doc: Take the mark of a session away, unless a later write has left another.
// mode: write
// params: tenant STRING, session STRING, mark STRING
// plan: Eager the session is found by its key before a mark that has an index goes
CYPHER 25
MATCH (s:Session {tenant: $tenant, name: $session})
WHERE s.touched = $mark
REMOVE s.touched
