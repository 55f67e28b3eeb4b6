// doc: Find episodes that are not in exactly one state or lack what it needs, and passages in another.
// mode: read
// params: tenant STRING
CYPHER 25
CALL () {
  MATCH (e:Episode)
  WHERE e.tenant = $tenant AND e.turn IS NOT NULL
  WITH e, size([label IN labels(e)
    WHERE label IN ['LiveEpisode', 'DormantEpisode', 'ArchivedEpisode']]) AS states
  RETURN e.id AS id, CASE
    WHEN states <> 1 THEN 'in ' + states + ' states'
    WHEN e:ArchivedEpisode AND (e.archive_file IS NULL OR e.archive_offset IS NULL)
      THEN 'archived, and does not tell where'
    WHEN NOT e:ArchivedEpisode AND e.text IS NULL THEN 'not archived, and without its text'
  END AS detail
  UNION ALL
  MATCH (p:Passage)
  WHERE p.tenant = $tenant AND p.turn IS NOT NULL
  MATCH (p)<-[:HAS_PASSAGE]-(e:Episode)
  RETURN p.id AS id, CASE
    WHEN p:LivePassage AND NOT e:LiveEpisode THEN 'a live passage of an episode that is not'
    WHEN e:LiveEpisode AND NOT p:LivePassage THEN 'a passage of a live episode, and not live'
    WHEN e:ArchivedEpisode THEN 'a passage of an archived episode'
  END AS detail
}
// use: symptoms(id)
