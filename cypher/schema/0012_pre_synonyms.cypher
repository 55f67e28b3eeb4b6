// doc: Drop the index of the forms of names: ingest keeps them in memory with the names.
// mode: schema
CYPHER 25
DROP INDEX concept_forms IF EXISTS;
