// doc: List the nodes that an import has created, with their numbers in its file.
// mode: read
// params: tenant STRING
// returns: number INTEGER, node STRING
CYPHER 25
MATCH (n:Imported)
WHERE n.import_of = $tenant
WITH n.import_number AS number, elementId(n) AS node
RETURN number, node
ORDER BY number
