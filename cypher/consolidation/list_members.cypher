// doc: List the turns of a session in order, or these episodes in the order they occurred, that have
//   a text and a vector.
// mode: read
// params: tenant STRING, session STRING, ids LIST<STRING>
// each: id STRING, body_hash STRING, speaker STRING, role STRING, text STRING, length INTEGER,
//   vector EMBEDDING, question BOOLEAN
CYPHER 25
WITH $tenant AS tenant
CALL (tenant) {
  WHEN $session IS NOT NULL THEN {
    MATCH (e:Episode)
    WHERE e.tenant = tenant AND e.session = $session AND e.ordinal >= 0
    RETURN e, e.ordinal AS place
  }
  ELSE {
    UNWIND $ids AS id
    MATCH (e:Episode {id: id})
    WHERE e.tenant = tenant
    RETURN e, e.occurred_at AS place
  }
}
WITH e, place
WHERE e.text IS NOT NULL AND e.embedding IS NOT NULL
ORDER BY place, e.turn
RETURN collect([
  e.id, e.body_hash, e.speaker, e.role, e.text, e.length,
  e.embedding, coalesce(e.is_question, false)
]) AS rows
