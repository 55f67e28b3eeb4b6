// doc: Join facts to the episodes that came with them, and weigh what they relate.
// mode: write
// params: tenant STRING, rows LIST<MAP>
// plan: Eager all evidence is there before it is weighed, batches are small
CYPHER 25
UNWIND $rows AS row
MATCH (f:Fact {id: row.fact})
WHERE f.tenant = $tenant
CALL (f, row) {
  MATCH (e:Episode {id: row.episode})
  WHERE e.tenant = $tenant
  CREATE (f)-[:EVIDENCE {
    family: 'provenance', weight: row.weight, created_at: datetime(),
    reliability: row.reliability,
    valid_from: CASE WHEN row.valid_from IS NOT NULL
      THEN datetime({epochSeconds: row.valid_from[0], nanosecond: row.valid_from[1]}) END,
    valid_to: CASE WHEN row.valid_to IS NOT NULL
      THEN datetime({epochSeconds: row.valid_to[0], nanosecond: row.valid_to[1]}) END,
    by: row.by, start: row.start, end: row.end
  }]->(e)
}
WITH DISTINCT f
// use: supported(f)
