// doc: Delete one batch of the nodes of an import that is given up, with their edges.
// mode: write
// params: tenant STRING, batch INTEGER
// returns: changed INTEGER
CYPHER 25
MATCH (n:Imported)
WHERE n.import_of = $tenant
WITH n
LIMIT $batch
DETACH DELETE n
RETURN count(*) AS changed
