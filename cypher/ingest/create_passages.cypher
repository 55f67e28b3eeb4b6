// doc: Create passages of episodes that have a text here, live where the episode is, and count them.
// mode: write
// params: tenant STRING, groups LIST<MAP>
// plan: Eager who has passages is told before the first is made, batches are small
CYPHER 25
MATCH (t:Tenant {id: $tenant})
UNWIND $groups AS group
MATCH (e:Episode {id: group.episode})
WHERE e.tenant = $tenant AND e.text IS NOT NULL
UNWIND group.rows AS row
WITH t, e, row
WHERE NOT EXISTS { (:Passage {id: row.id}) }
CREATE (p:Passage {
  id: row.id, tenant: $tenant, episode: e.id, ordinal: row.ordinal,
  start: row.start, end: row.end, terms: row.terms, length: row.length,
  session: e.session, speaker: e.speaker, occurred_at: e.occurred_at, turn: e.turn,
  embedding: row.vector
})
CREATE (e)-[:HAS_PASSAGE {family: 'abstraction', weight: 1.0, created_at: e.recorded_at}]->(p)
FOREACH (live IN CASE WHEN e:LiveEpisode THEN [p] ELSE [] END | SET live:LivePassage)
WITH t, count(p) AS made
SET t.passages = coalesce(t.passages, 0) + made
