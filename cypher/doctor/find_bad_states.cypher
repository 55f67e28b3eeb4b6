// doc: Find episodes that are not in exactly one state, and those without what their state needs.
// mode: read
// params: tenant STRING, limit INTEGER
// returns: found INTEGER, id LIST<STRING>, detail LIST<STRING>
CYPHER 25
MATCH (e:Episode)
WHERE e.tenant = $tenant AND e.turn IS NOT NULL
WITH e, size([label IN labels(e)
  WHERE label IN ['LiveEpisode', 'DormantEpisode', 'ArchivedEpisode']]) AS states
WITH e, CASE
  WHEN states <> 1 THEN 'in ' + states + ' states'
  WHEN e:ArchivedEpisode AND (e.archive_file IS NULL OR e.archive_offset IS NULL)
    THEN 'archived, and does not tell where'
  WHEN NOT e:ArchivedEpisode AND e.text IS NULL THEN 'not archived, and without its text'
END AS detail
WHERE detail IS NOT NULL
WITH e.id AS id, detail
ORDER BY id
RETURN count(*) AS found, collect(id)[..$limit] AS id, collect(detail)[..$limit] AS detail
