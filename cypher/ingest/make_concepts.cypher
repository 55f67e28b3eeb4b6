// doc: Turn names into concept nodes.
// mode: write
// params: tenant STRING, rows LIST<MAP>
CYPHER 25
UNWIND $rows AS row
MATCH (n:Name {tenant: $tenant, normalised: row.normalised})
SET n:Concept:LiveConcept, n.id = row.id, n.mentions = 0, n.abouts = 0,
  n.recorded_at = datetime()
