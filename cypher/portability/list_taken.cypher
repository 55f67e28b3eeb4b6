// doc: List which of these ids nodes outside of an import have already.
// mode: read
// params: owner STRING, episodes LIST<STRING>, passages LIST<STRING>, names LIST<STRING>,
//   facts LIST<STRING>, decisions LIST<STRING>, engrams LIST<STRING>, traces LIST<STRING>,
//   tombstones LIST<STRING>, jobs LIST<STRING>, keys LIST<STRING>, hashes LIST<STRING>
// returns: id STRING
CYPHER 25
CALL () {
  UNWIND $episodes AS id
  MATCH (n:Episode {id: id})
  RETURN n
  UNION ALL
  UNWIND $passages AS id
  MATCH (n:Passage {id: id})
  RETURN n
  UNION ALL
  UNWIND $names AS id
  MATCH (n:Concept {id: id})
  RETURN n
  UNION ALL
  UNWIND $facts AS id
  MATCH (n:Fact {id: id})
  RETURN n
  UNION ALL
  UNWIND $decisions AS id
  MATCH (n:Decision {id: id})
  RETURN n
  UNION ALL
  UNWIND $engrams AS id
  MATCH (n:Engram {id: id})
  RETURN n
  UNION ALL
  UNWIND $traces AS id
  MATCH (n:Trace {id: id})
  RETURN n
  UNION ALL
  UNWIND $tombstones AS id
  MATCH (n:Tombstone {id: id})
  RETURN n
  UNION ALL
  UNWIND $jobs AS id
  MATCH (n:Job {id: id})
  RETURN n
  UNION ALL
  UNWIND $keys AS id
  MATCH (n:ApiKey {id: id})
  RETURN n
  UNION ALL
  UNWIND $hashes AS hash
  MATCH (n:ApiKey {hash: hash})
  RETURN n
}
WITH n
WHERE coalesce(n.import_of, '') <> $owner OR $owner = ''
WITH n.id AS id
RETURN id
ORDER BY id
