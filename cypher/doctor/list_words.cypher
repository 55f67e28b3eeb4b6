// doc: List the stored counts of every word in lower case.
// mode: read
// params: tenant STRING
// each: word STRING, items INTEGER
CYPHER 25
MATCH (w:Word)
WHERE w.tenant = $tenant AND w.word IS NOT NULL
WITH w
ORDER BY w.word
RETURN collect([w.word, w.items]) AS rows
