// doc: Look up nodes by id to show them; what was erased or has expired, or had not occurred by
//   then, has no row.
// mode: read
// params: tenant STRING, ids LIST<STRING>, speakers LIST<STRING>
// each: id STRING, kind STRING, title STRING, speaker STRING, text STRING, session STRING,
//   ordinal INTEGER, occurred_at LOCAL_INSTANT, state STRING
CYPHER 25
CALL () {
  UNWIND $ids AS id
  MATCH (n:Episode {id: id})
  WHERE n.tenant = $tenant AND coalesce(n.expires_at > datetime(), true)
    AND ($as_of IS NULL OR n.occurred_at <= $as_of)
  // An episode's opening is enough for a line of it.
  RETURN n.id AS id, 'episode' AS kind, n.title AS title, nullIf(n.speaker, '') AS speaker,
    left(coalesce(n.text, n.summary), 500) AS text, nullIf(n.session, '') AS session,
    n.ordinal AS ordinal,
    [n.occurred_at.epochSeconds * 1000000 + n.occurred_at.microsecond, n.utc_offset]
      AS occurred_at,
    CASE
      WHEN n:LiveEpisode THEN 'live' WHEN n:ArchivedEpisode THEN 'archived' ELSE 'dormant'
    END AS state
  UNION ALL
  UNWIND $ids AS id
  MATCH (n:Concept {id: id})
  WHERE n.tenant = $tenant
    // use: shown(n)
  RETURN n.id AS id, 'concept' AS kind, n.name AS title, null AS speaker, null AS text,
    null AS session, null AS ordinal, null AS occurred_at, null AS state
  UNION ALL
  UNWIND $ids AS id
  MATCH (n:Fact {id: id})
  WHERE n.tenant = $tenant
    // use: shown(n)
  RETURN n.id AS id, 'fact' AS kind, n.statement AS title, null AS speaker, null AS text,
    null AS session, null AS ordinal, null AS occurred_at, null AS state
  UNION ALL
  MATCH (n:Speaker)
  WHERE n.tenant = $tenant AND n.name IS NOT NULL AND n.id IN $speakers
  RETURN n.id AS id, 'speaker' AS kind, n.name AS title, null AS speaker, null AS text,
    null AS session, null AS ordinal, null AS occurred_at, null AS state
}
WITH *
ORDER BY kind, id
RETURN collect([id, kind, title, speaker, text, session, ordinal, occurred_at, state]) AS rows
