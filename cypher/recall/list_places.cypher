// doc: List live episodes, and dormant ones if wanted, by id, near others, and by window of a session.
// mode: read
// params: tenant STRING, ids LIST<STRING>, around LIST<STRING>, back INTEGER, ahead INTEGER,
//   windows LIST<MAP>, dormant BOOLEAN
// returns: id LIST<STRING>, turn LIST<INTEGER>, session LIST<STRING>, ordinal LIST<INTEGER>
CYPHER 25
CALL () {
  UNWIND $ids AS id
  MATCH (e:Episode {id: id})
  WHERE e.tenant = $tenant
    AND CASE WHEN $dormant THEN e:LiveEpisode OR e:DormantEpisode ELSE e:LiveEpisode END
  RETURN e
  UNION
  UNWIND $around AS id
  MATCH (near:Episode {id: id})
  WHERE near.tenant = $tenant
    AND CASE WHEN $dormant THEN near:LiveEpisode OR near:DormantEpisode ELSE near:LiveEpisode END
  // Without WITH and hint, statistics of when there were few episodes make it scan them all.
  WITH near.session AS session, near.ordinal - $back AS first, near.ordinal + $ahead AS last
  MATCH (e:Episode)
  USING INDEX SEEK e:Episode(tenant, session, ordinal)
  WHERE e.tenant = $tenant AND e.session = session AND e.ordinal >= first AND e.ordinal <= last
    AND CASE WHEN $dormant THEN e:LiveEpisode OR e:DormantEpisode ELSE e:LiveEpisode END
  RETURN e
  UNION
  UNWIND $windows AS w
  WITH w.session AS session, w.first AS first, w.last AS last
  MATCH (e:Episode)
  USING INDEX SEEK e:Episode(tenant, session, ordinal)
  WHERE e.tenant = $tenant AND e.session = session AND e.ordinal >= first AND e.ordinal <= last
    AND CASE WHEN $dormant THEN e:LiveEpisode OR e:DormantEpisode ELSE e:LiveEpisode END
  RETURN e
}
WITH e, e.session AS session, coalesce(e.ordinal, -1) AS ordinal, e.turn AS turn
ORDER BY session, ordinal, turn
RETURN collect(e.id) AS id, collect(turn) AS turn, collect(session) AS session,
  collect(ordinal) AS ordinal
