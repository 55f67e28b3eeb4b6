// doc: Delete names, sessions, speakers, stems and words without any episode.
// mode: write
// params: tenant STRING, names LIST<STRING>, sessions LIST<STRING>, speakers LIST<STRING>,
//   stems LIST<STRING>, words LIST<STRING>
// plan: Eager the indexes find all of them before the first is deleted, batches are small
CYPHER 25
CALL () {
  UNWIND $names AS name
  MATCH (n:Name {tenant: $tenant, normalised: name})
  WHERE n.titles <= 0 AND n.candidates <= 0 AND coalesce(n.stated, 0) <= 0 AND NOT n:Concept
  RETURN n
  UNION ALL
  UNWIND $sessions AS name
  MATCH (n:Session {tenant: $tenant, name: name})
  WHERE NOT EXISTS { (n)<-[:IN_SESSION]-() }
  RETURN n
  UNION ALL
  UNWIND $speakers AS name
  MATCH (n:Speaker {tenant: $tenant, name: name})
  WHERE n.episodes <= 0
  RETURN n
  UNION ALL
  UNWIND $stems AS stem
  MATCH (n:Term {tenant: $tenant, stem: stem})
  WHERE n.items <= 0
  RETURN n
  UNION ALL
  UNWIND $words AS word
  MATCH (n:Word {tenant: $tenant, word: word})
  WHERE n.items <= 0
  RETURN n
}
DETACH DELETE n
