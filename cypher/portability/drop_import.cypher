// doc: Forget that an import was under way.
// mode: write
// params: tenant STRING
CYPHER 25
MATCH (i:Import {id: $tenant})
DELETE i
