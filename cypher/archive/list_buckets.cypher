// doc: Count a tenant's episodes whose life is not over, by session, day or month, in the order of
//   time, from a cursor on.
// mode: read
// params: tenant STRING, by STRING, speakers LIST<STRING>, after_place INTEGER, after_name STRING,
//   limit INTEGER
// returns: place INTEGER, bucket STRING, first_occurred_at DATETIME, last_occurred_at DATETIME,
//   live INTEGER, dormant INTEGER, archived INTEGER
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn IS NOT NULL AND coalesce(e.expires_at > datetime(), true)
  AND ($speakers IS NULL OR e.speaker IN $speakers)
WITH e, CASE $by
  WHEN 'session' THEN nullIf(e.session, '')
  ELSE left(
    toString(date(e.occurred_at + duration({minutes: coalesce(e.utc_offset, 0)}))),
    CASE $by WHEN 'day' THEN 10 ELSE 7 END
  )
END AS bucket
WITH bucket, count(*) AS every, min(e.occurred_at) AS first_occurred_at,
  max(e.occurred_at) AS last_occurred_at,
  sum(CASE WHEN e:LiveEpisode THEN 1 ELSE 0 END) AS live,
  sum(CASE WHEN e:ArchivedEpisode THEN 1 ELSE 0 END) AS archived
WITH *, coalesce(bucket, '') AS name, CASE $by
  WHEN 'session' THEN first_occurred_at.epochSeconds * 1000000 + first_occurred_at.microsecond
  ELSE 0
END AS place
WHERE $after_place IS NULL OR place > $after_place OR (place = $after_place AND name > $after_name)
RETURN place, bucket, first_occurred_at, last_occurred_at, live,
  every - live - archived AS dormant, archived
ORDER BY place, name
LIMIT $limit
