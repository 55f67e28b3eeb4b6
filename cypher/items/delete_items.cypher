// doc: Delete items by address.
// mode: write
// params: tenant STRING, rows LIST<MAP>
// plan: Eager addresses are distinct, so no deleted item is looked for again
CYPHER 25
UNWIND $rows AS row
MATCH (n:Item {tenant: $tenant, path: row.path, key: row.key})
DETACH DELETE n
