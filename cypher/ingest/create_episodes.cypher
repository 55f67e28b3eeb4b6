// doc: Create episodes in their sessions, said by their speakers, both of which exist.
// mode: write
// params: tenant STRING, groups LIST<MAP>
CYPHER 25
UNWIND $groups AS group
OPTIONAL MATCH (s:Session {tenant: $tenant, name: group.session})
OPTIONAL MATCH (p:Speaker {tenant: $tenant, name: group.speaker})
UNWIND group.rows AS row
WITH s, p, group, row,
  datetime({epochSeconds: row.recorded_at[0], nanosecond: row.recorded_at[1]}) AS recorded_at
CREATE (e:Episode:LiveEpisode {
  id: row.id, tenant: $tenant, turn: row.sequence,
  session: group.session, ordinal: row.ordinal, position: row.position,
  speaker: group.speaker, role: row.role,
  occurred_at: datetime({epochSeconds: row.occurred_at[0], nanosecond: row.occurred_at[1]}),
  utc_offset: row.utc_offset,
  recorded_at: recorded_at,
  expires_at: CASE WHEN row.expires_at IS NOT NULL
    THEN datetime({epochSeconds: row.expires_at[0], nanosecond: row.expires_at[1]}) END,
  title: row.title, text: row.text, source: row.source, metadata: row.metadata,
  importance: row.importance, kind: row.kind, body_hash: row.body_hash,
  idempotency_key: row.idempotency_key,
  terms: row.terms, words: row.words, length: row.length,
  is_question: row.is_question, time_expression: row.has_time_expression,
  first_person: row.first_person, second_person: row.second_person,
  embedding: row.vector
})
FOREACH (session IN CASE WHEN s IS NULL THEN [] ELSE [s] END |
  CREATE (e)-[:IN_SESSION {family: 'abstraction', weight: 1.0, created_at: recorded_at}]
    ->(session))
FOREACH (speaker IN CASE WHEN p IS NULL THEN [] ELSE [p] END |
  CREATE (e)-[:SPOKEN_BY {family: 'provenance', weight: 1.0, created_at: recorded_at}]
    ->(speaker))
