// doc: Take the marks of an import off one batch of its nodes, or delete them with their edges.
// mode: write
// params: tenant STRING, delete BOOLEAN, batch INTEGER
// returns: changed INTEGER
// plan: Eager the batch is found before its first node changes
CYPHER 25
MATCH (n:Imported)
WHERE n.import_of = $tenant
WITH n
LIMIT $batch
FOREACH (kept IN CASE WHEN $delete THEN [] ELSE [n] END |
  REMOVE kept:Imported, kept.import_of, kept.import_number)
FOREACH (gone IN CASE WHEN $delete THEN [n] ELSE [] END | DETACH DELETE gone)
RETURN count(*) AS changed
