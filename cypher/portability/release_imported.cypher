// doc: Take the marks of an import off one batch of its nodes.
// mode: write
// params: tenant STRING, batch INTEGER
// returns: changed INTEGER
CYPHER 25
MATCH (n:Imported)
WHERE n.import_of = $tenant
WITH n
LIMIT $batch
REMOVE n:Imported, n.import_of, n.import_number
RETURN count(*) AS changed
