// doc: Join facts to the episodes that came with them.
// mode: write
// params: tenant STRING, rows LIST<MAP>
// plan: CartesianProduct of the one fact and the one episode that a unique key finds
CYPHER 25
UNWIND $rows AS row
MATCH (f:Fact {id: row.fact})
WHERE f.tenant = $tenant
WITH row, f
MATCH (e:Episode {id: row.episode})
WHERE e.tenant = $tenant
CREATE (f)-[:EVIDENCE {
  family: 'provenance', weight: 1.0, created_at: datetime(), reliability: row.reliability,
  valid_from: CASE WHEN row.valid_from IS NOT NULL
    THEN datetime({epochSeconds: row.valid_from[0], nanosecond: row.valid_from[1]}) END,
  valid_to: CASE WHEN row.valid_to IS NOT NULL
    THEN datetime({epochSeconds: row.valid_to[0], nanosecond: row.valid_to[1]}) END,
  by: row.by, start: row.start, end: row.end
}]->(e)
