// doc: Add to the number of items that have words in lower case, making those that are new.
// mode: write
// params: tenant STRING, rows LIST<MAP>
CYPHER 25
UNWIND $rows AS row
MERGE (w:Word {tenant: $tenant, word: row.word})
ON CREATE SET w.items = row.items
ON MATCH SET w.items = w.items + row.items
