// doc: See to it that sessions exist.
// mode: write
// params: tenant STRING, rows LIST<MAP>
CYPHER 25
UNWIND $rows AS row
MERGE (s:Session {tenant: $tenant, name: row.name})
ON CREATE SET s.id = row.id, s.recorded_at = datetime()
SET s.touched = randomUUID()
