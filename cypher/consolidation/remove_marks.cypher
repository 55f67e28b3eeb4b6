// doc: Take the marks of concepts and sessions away, unless a later write has left another.
// mode: write
// params: tenant STRING, concepts LIST<MAP>, sessions LIST<MAP>
// plan: Eager all are found by their key before a mark that has an index goes
CYPHER 25
CALL () {
  UNWIND $concepts AS row
  MATCH (n:Concept {id: row.id})
  WHERE n.tenant = $tenant AND n.touched = row.mark
  RETURN n
  UNION ALL
  UNWIND $sessions AS row
  MATCH (n:Session {tenant: $tenant, name: row.name})
  WHERE n.touched = row.mark
  RETURN n
}
REMOVE n.touched
