// doc: Count the vectors of this generation in all tenants, and those that have one of the next.
// mode: read
// returns: total INTEGER, done INTEGER
CYPHER 25
UNWIND ['Episode', 'Passage', 'Concept', 'Fact', 'Engram', 'Item'] AS label
MATCH (n:$(label))
WHERE n.embedding IS NOT NULL
RETURN count(*) AS total, count(n.embedding_1) AS done
