// doc: List the concepts whose names hold one of some words, also inside a word; most words first.
// mode: read
// params: tenant STRING, words LIST<STRING>, limit INTEGER
// returns: id STRING, name STRING
CYPHER 25
MATCH (c:Name)
WHERE c.tenant = $tenant AND c.normalised IS NOT NULL AND c:LiveConcept
WITH c, size([word IN $words WHERE c.normalised CONTAINS word]) AS held
WHERE held > 0
WITH c, held
ORDER BY held DESC, size(c.normalised), c.normalised
LIMIT $limit
RETURN c.id AS id, c.name AS name
ORDER BY held DESC, size(c.normalised), c.normalised
