// doc: List the hits of a trace, their feedback, and its effect on the memories so far.
// mode: read
// params: tenant STRING, id STRING
// returns: id STRING, rank INTEGER, useful BOOLEAN, counted BOOLEAN, role STRING,
//   salience FLOAT, rewards INTEGER, penalties INTEGER, on BOOLEAN
CYPHER 25
MATCH (p:Trace {id: $id})
WHERE p.tenant = $tenant
MATCH (p)-[w:WOKE]->(e:Episode)
RETURN e.id AS id, w.rank AS rank, w.useful AS useful,
  p.pending_since IS NOT NULL OR coalesce(p.effects_applied, false) AS counted, e.role AS role,
  coalesce(e.salience, e.importance) AS salience, coalesce(e.reward_pos, 0) AS rewards,
  coalesce(e.reward_neg, 0) AS penalties,
  EXISTS { MATCH (t:Tenant {id: $tenant}) WHERE t.learning_since IS NOT NULL } AS on
ORDER BY rank
