// doc: Add to the counts of names, making those that are new.
// mode: write
// params: tenant STRING, rows LIST<MAP>
CYPHER 25
UNWIND $rows AS row
MERGE (n:Name {tenant: $tenant, normalised: row.normalised})
ON CREATE SET n.name = row.surface, n.kind = row.kind, n.titles = row.titles,
  n.candidates = row.candidates, n.stated = row.stated
ON MATCH SET n.titles = n.titles + row.titles, n.candidates = n.candidates + row.candidates,
  n.stated = coalesce(n.stated, 0) + row.stated
