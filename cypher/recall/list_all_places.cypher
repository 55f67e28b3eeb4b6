// doc: List live and dormant episodes by id, with the turns near some of them, and by window.
// mode: read
// params: tenant STRING, ids LIST<STRING>, around LIST<STRING>, back INTEGER, ahead INTEGER,
//   windows LIST<MAP>
// returns: id LIST<STRING>, turn LIST<INTEGER>, session LIST<STRING>, ordinal LIST<INTEGER>,
//   near_length LIST<FLOAT>, context_norm LIST<FLOAT>
CYPHER 25
CALL () {
  UNWIND $ids AS id
  MATCH (e:Episode {id: id})
  WHERE e.tenant = $tenant AND (e:LiveEpisode OR e:DormantEpisode)
  RETURN e
  UNION
  UNWIND $around AS id
  MATCH (near:Episode {id: id})
  WHERE near.tenant = $tenant AND (near:LiveEpisode OR near:DormantEpisode)
  MATCH (e:Episode)
  WHERE e.tenant = $tenant AND e.session = near.session
    AND e.ordinal >= near.ordinal - $back AND e.ordinal <= near.ordinal + $ahead
    AND (e:LiveEpisode OR e:DormantEpisode)
  RETURN e
  UNION
  UNWIND $windows AS w
  MATCH (e:Episode)
  WHERE e.tenant = $tenant AND e.session = w.session
    AND e.ordinal >= w.first AND e.ordinal <= w.last AND (e:LiveEpisode OR e:DormantEpisode)
  RETURN e
}
WITH e, e.session AS session, coalesce(e.ordinal, -1) AS ordinal, e.turn AS turn
ORDER BY session, ordinal, turn
RETURN collect(e.id) AS id, collect(turn) AS turn, collect(session) AS session,
  collect(ordinal) AS ordinal, collect(e.near_length) AS near_length,
  collect(e.context_norm) AS context_norm
