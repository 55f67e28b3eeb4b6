// doc: Load every word a tenant has seen in lower case.
// mode: read
// params: tenant STRING
// returns: words LIST<STRING>
CYPHER 25
MATCH (w:Word)
WHERE w.tenant = $tenant AND w.word IS NOT NULL
WITH w.word AS word
ORDER BY word
RETURN collect(word) AS words
