// doc: Read the words of episodes as the text index has them.
// mode: read
// params: tenant STRING, ids LIST<STRING>
// returns: id STRING, words STRING
CYPHER 25
UNWIND $ids AS wanted
MATCH (e:Episode {id: wanted})
WHERE e.tenant = $tenant AND e.words IS NOT NULL
RETURN e.id AS id, e.words AS words
ORDER BY id
