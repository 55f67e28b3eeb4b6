// doc: List the hits of a trace that got feedback, and whether they were useful.
// mode: read
// params: tenant STRING, id STRING
// each: id STRING, useful BOOLEAN
CYPHER 25
MATCH (t:Trace {id: $id})-[w:WOKE]->(e:Episode)
WHERE t.tenant = $tenant AND w.useful IS NOT NULL
WITH w, e
ORDER BY w.rank
RETURN collect([e.id, w.useful]) AS rows
