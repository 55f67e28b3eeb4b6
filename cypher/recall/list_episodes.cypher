// doc: Fetch whole live episodes by id, and dormant ones if wanted.
// mode: read
// params: tenant STRING, ids LIST<STRING>, dormant BOOLEAN
// each: id STRING, turn INTEGER, text STRING, title STRING, speaker STRING,
//   role STRING, session STRING, ordinal INTEGER, position INTEGER, occurred_at LOCAL_INSTANT,
//   recorded_at INSTANT, source STRING, metadata JSON, importance FLOAT, kind STRING,
//   expires_at INSTANT, state STRING, pinned BOOLEAN, uses INTEGER, last_used_at INSTANT, retrievability FLOAT,
//   reliability FLOAT
CYPHER 25
UNWIND $ids AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant
  AND CASE WHEN $dormant THEN e:LiveEpisode OR e:DormantEpisode ELSE e:LiveEpisode END
WITH e
ORDER BY e.turn
// use: used(e)
WITH [
  e.id, e.turn, e.text, e.title, nullIf(e.speaker, ''), e.role, nullIf(e.session, ''), e.ordinal,
  e.position,
  [e.occurred_at.epochSeconds * 1000000 + e.occurred_at.microsecond, e.utc_offset],
  e.recorded_at.epochSeconds * 1000000 + e.recorded_at.microsecond,
  e.source, e.metadata, e.importance,
  // use: kind(e)
  ,
  e.expires_at.epochSeconds * 1000000 + e.expires_at.microsecond,
  CASE WHEN $dormant AND NOT e:LiveEpisode THEN 'dormant' ELSE 'live' END,
  pinned, uses, last_used_at, retrievability,
  CASE WHEN e.reliability_0 IS NOT NULL THEN
    (4 * e.reliability_0 + e.reward_pos) / (4.0 + e.reward_pos + e.reward_neg)
  END
] AS row
// Without its text, the episode was archived a moment ago.
WHERE row[2] IS NOT NULL
RETURN collect(row) AS rows
