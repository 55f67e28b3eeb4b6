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
  valid_from: row.valid_from, valid_to: row.valid_to, by: row.by, start: row.start, end: row.end
}]->(e)
