// doc: List waiting jobs without a begun one of their kind, and jobs whose pause or lease is over.
// mode: read
// params: limit INTEGER
// returns: id STRING
CYPHER 25
WITH datetime.realtime() AS now
MATCH (j:Job)
WHERE j.run_after <= now
  AND (
    j.slot ENDS WITH ' begun'
    OR NOT EXISTS { MATCH (other:Job {slot: j.tenant + ' ' + j.kind + ' begun'}) }
  )
RETURN j.id AS id
ORDER BY j.run_after, id
LIMIT $limit
