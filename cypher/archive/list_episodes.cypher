// doc: List a tenant's episodes by turn, from a cursor on.
// mode: read
// params: tenant STRING, occurred_from DATETIME, occurred_before DATETIME, after_turn INTEGER,
//   limit INTEGER
// returns: id STRING, tenant STRING, turn INTEGER, text STRING, title STRING, speaker STRING,
//   role STRING, session STRING, ordinal INTEGER, position INTEGER, occurred_at DATETIME,
//   recorded_at DATETIME, source STRING, metadata STRING, importance FLOAT, live BOOLEAN
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn > $after_turn
  AND ($occurred_from IS NULL OR e.occurred_at >= $occurred_from)
  AND ($occurred_before IS NULL OR e.occurred_at < $occurred_before)
RETURN e.id AS id, e.tenant AS tenant, e.turn AS turn, e.text AS text, e.title AS title,
  e.speaker AS speaker, e.role AS role, e.session AS session, e.ordinal AS ordinal,
  e.position AS position, e.occurred_at AS occurred_at, e.recorded_at AS recorded_at,
  e.source AS source, e.metadata AS metadata, e.importance AS importance,
  e:LiveEpisode AS live
ORDER BY tenant, turn
LIMIT $limit
