// doc: List live episodes by turn, for a language model to read.
// mode: read
// params: tenant STRING, after_turn INTEGER, limit INTEGER
// returns: id STRING, turn INTEGER, title STRING, text STRING, speaker STRING, role STRING,
//   session STRING, occurred_at DATETIME, utc_offset INTEGER, extracted_by STRING,
//   offset INTEGER
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn > $after_turn AND e:LiveEpisode
RETURN e.id AS id, e.turn AS turn, e.title AS title, e.text AS text, e.speaker AS speaker,
  e.role AS role, e.session AS session, e.occurred_at AS occurred_at,
  e.utc_offset AS utc_offset,
  e.extracted_by AS extracted_by, 0 AS offset
ORDER BY e.tenant, turn
LIMIT $limit
