// doc: Count the vectors of this generation in all tenants, and those that have one of the next.
// mode: read
// returns: total INTEGER, done INTEGER
CYPHER 25
CALL () {
  MATCH (n:Episode)
  WHERE n.embedding IS NOT NULL
  RETURN count(*) AS total, count(n.embedding_1) AS done
  UNION ALL
  MATCH (n:Passage)
  WHERE n.embedding IS NOT NULL
  RETURN count(*) AS total, count(n.embedding_1) AS done
  UNION ALL
  MATCH (n:Concept)
  WHERE n.embedding IS NOT NULL
  RETURN count(*) AS total, count(n.embedding_1) AS done
  UNION ALL
  MATCH (n:Fact)
  WHERE n.embedding IS NOT NULL
  RETURN count(*) AS total, count(n.embedding_1) AS done
  UNION ALL
  MATCH (n:Engram)
  WHERE n.embedding IS NOT NULL
  RETURN count(*) AS total, count(n.embedding_1) AS done
  UNION ALL
  MATCH (n:Item)
  WHERE n.embedding IS NOT NULL
  RETURN count(*) AS total, count(n.embedding_1) AS done
}
RETURN sum(total) AS total, sum(done) AS done
