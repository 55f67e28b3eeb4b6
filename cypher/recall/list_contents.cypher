// doc: Fetch the constant columns of live episodes, and of dormant ones if wanted, with their places,
//   by id and by window of a session.
// mode: read
// params: tenant STRING, ids LIST<STRING>, windows LIST<MAP>, dormant BOOLEAN, longest INTEGER
// each: id STRING, turn INTEGER, session STRING, ordinal INTEGER, speaker STRING, role STRING,
//   occurred_ms INTEGER, local_ms INTEGER,
//   terms STRING, length FLOAT, is_question BOOLEAN,
//   time_expression BOOLEAN, first_person BOOLEAN, second_person BOOLEAN, title STRING,
//   importance FLOAT, brief STRING, vector BYTES
CYPHER 25
CALL () {
  UNWIND $ids AS id
  MATCH (e:Episode {id: id})
  WHERE e.tenant = $tenant
    AND CASE WHEN $dormant THEN e:LiveEpisode OR e:DormantEpisode ELSE e:LiveEpisode END
  RETURN e
  UNION ALL
  // One search for a run of turns is much cheaper than one for each of them.
  UNWIND $windows AS w
  WITH w.session AS session, w.first AS first, w.last AS last
  MATCH (e:Episode)
  USING INDEX SEEK e:Episode(tenant, session, ordinal)
  WHERE e.tenant = $tenant AND e.session = session AND e.ordinal >= first AND e.ordinal <= last
    AND CASE WHEN $dormant THEN e:LiveEpisode OR e:DormantEpisode ELSE e:LiveEpisode END
  RETURN e
}
WITH e
ORDER BY e.id
WITH [
  e.id, e.turn, e.session, coalesce(e.ordinal, -1), e.speaker, e.role, e.occurred_at.epochMillis,
  e.occurred_at.epochMillis + 60000 * coalesce(e.utc_offset, 0),
  e.terms, toFloat(e.length),
  e.is_question, e.time_expression, e.first_person, e.second_person, e.title, e.importance,
  CASE WHEN size(e.text) <= $longest THEN e.text ELSE '' END,
  e.embedding
] AS row
// The vector is read last: without it, the episode was archived a moment ago.
WHERE row[17] IS NOT NULL
RETURN collect(row) AS rows
