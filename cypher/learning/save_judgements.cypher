// doc: Store the feedback on hits of a trace, and its effect on the memories.
// mode: write
// params: tenant STRING, id STRING, rows LIST<MAP>
CYPHER 25
MATCH (t:Tenant {id: $tenant})
SET t.feedback_total = t.feedback_total + size($rows)
WITH t
MATCH (p:Trace {id: $id})
WHERE p.tenant = $tenant
UNWIND $rows AS row
MATCH (p)-[w:WOKE]->(e:Episode {id: row.id})
SET w.useful = row.useful
WITH e, row
WHERE NOT e:ArchivedEpisode
SET e.reliability_0 = row.first, e.reward_pos = row.rewards,
  e.reward_neg = row.penalties, e.salience = row.salience
