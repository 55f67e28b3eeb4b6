// doc: Look up the labels of a trace's nodes by id; erased nodes have no row, nor
//   have those whose life is over.
// mode: read
// params: tenant STRING, ids LIST<STRING>, speaker STRING
// each: id STRING, title STRING, speaker STRING, text STRING
CYPHER 25
UNWIND $ids AS id
CALL (id) {
  MATCH (n:Episode {id: id})
  WHERE coalesce(n.expires_at > datetime(), true)
  // An episode's opening is enough for a line of it.
  RETURN n, n.title AS title, n.speaker AS speaker, left(coalesce(n.text, n.summary), 500) AS text
  UNION
  MATCH (n:Concept {id: id})
  WHERE NOT EXISTS {
    MATCH (n)-[:MENTIONS|ABOUT]-(e:Episode) WHERE e.expires_at <= datetime()
  } OR EXISTS {
    MATCH (n)-[:MENTIONS|ABOUT]-(e:Episode) WHERE coalesce(e.expires_at > datetime(), true)
  }
  RETURN n, n.name AS title, null AS speaker, null AS text
  UNION
  MATCH (n:Fact {id: id})
  WHERE NOT EXISTS {
    MATCH (n)-[:EVIDENCE]-(e:Episode) WHERE e.expires_at <= datetime()
  } OR EXISTS {
    MATCH (n)-[:EVIDENCE]-(e:Episode) WHERE coalesce(e.expires_at > datetime(), true)
  }
  RETURN n, n.statement AS title, null AS speaker, null AS text
  UNION
  MATCH (n:Speaker)
  WHERE id = $speaker AND n.tenant = $tenant AND n.name IS NOT NULL AND n.id = id
  RETURN n, n.name AS title, null AS speaker, null AS text
}
WITH id, n, title, speaker, text
WHERE n.tenant = $tenant
WITH id, title, speaker, text
ORDER BY id
RETURN collect([id, title, speaker, text]) AS rows
