// doc: Add to the document frequencies of stems, making those that are new.
// mode: write
// params: tenant STRING, rows LIST<MAP>
CYPHER 25
UNWIND $rows AS row
MERGE (t:Term {tenant: $tenant, stem: row.stem})
ON CREATE SET t.items = row.items, t.near = row.near
ON MATCH SET t.items = t.items + row.items, t.near = t.near + row.near
