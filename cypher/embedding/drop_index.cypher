// doc: Drop an index, if there is one of this name.
// mode: write
// params: name STRING
CYPHER 25
DROP INDEX $name IF EXISTS
