// doc: Count, for each word, the items that have it in lower case.
// mode: read
// params: tenant STRING, words LIST<STRING>
// returns: word STRING, items INTEGER
CYPHER 25
UNWIND $words AS word
MATCH (w:Word {tenant: $tenant, word: word})
RETURN w.word AS word, w.items AS items
ORDER BY word
