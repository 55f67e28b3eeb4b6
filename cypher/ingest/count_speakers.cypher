// doc: Add to the number of episodes of speakers; create new speakers.
// mode: write
// params: tenant STRING, rows LIST<MAP>
CYPHER 25
UNWIND $rows AS row
MERGE (p:Speaker {tenant: $tenant, name: row.name})
ON CREATE SET p.id = row.id, p.episodes = row.episodes, p.recorded_at = datetime()
ON MATCH SET p.episodes = p.episodes + row.episodes
