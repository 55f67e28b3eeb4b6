// doc: See to it that sessions exist, and add to the number of episodes of speakers; create new ones.
// mode: write
// params: tenant STRING, sessions LIST<MAP>, speakers LIST<MAP>
// plan: Eager all sessions exist before the first speaker
CYPHER 25
CALL () {
  UNWIND $sessions AS row
  MERGE (s:Session {tenant: $tenant, name: row.name})
  ON CREATE SET s.id = row.id, s.recorded_at = datetime()
  SET s.touched = randomUUID()
}
CALL () {
  UNWIND $speakers AS row
  MERGE (p:Speaker {tenant: $tenant, name: row.name})
  ON CREATE SET p.id = row.id, p.episodes = row.episodes, p.recorded_at = datetime()
  ON MATCH SET p.episodes = p.episodes + row.episodes
}
