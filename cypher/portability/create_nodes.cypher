// doc: Create nodes as they were, marked with their number in the file until the import is whole.
// mode: write
// params: tenant STRING, rows LIST<MAP>
// returns: created INTEGER
// plan: Eager all rows are made from one list, which the first ones do not change
CYPHER 25
UNWIND $rows AS row
CREATE (n:$(row.labels))
SET n = row.properties
SET n:Imported, n.import_of = $tenant, n.import_number = row.number
RETURN count(*) AS created
