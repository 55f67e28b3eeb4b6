// doc: Find nodes without the edges they need, and erased episodes that are stored again.
// mode: read
// params: tenant STRING
CYPHER 25
CALL () {
  MATCH (e:Episode)
  WHERE e.tenant = $tenant AND e.turn IS NOT NULL
  RETURN e.id AS id, CASE
    WHEN e.session <> '' AND NOT EXISTS { (e)-[:IN_SESSION]->(:Session {name: e.session}) }
      THEN 'an episode that is not in its session'
    WHEN e.speaker <> '' AND NOT EXISTS { (e)-[:SPOKEN_BY]->(:Speaker {name: e.speaker}) }
      THEN 'an episode that is not said by its speaker'
  END AS detail
  UNION ALL
  MATCH (p:Passage)
  WHERE p.tenant = $tenant AND p.turn IS NOT NULL
  RETURN p.id AS id, CASE
    WHEN NOT EXISTS { (p)<-[:HAS_PASSAGE]-(:Episode {id: p.episode}) }
      THEN 'a passage without its episode'
  END AS detail
  UNION ALL
  MATCH (b:Tombstone)
  WHERE b.tenant = $tenant AND b.erased_at IS NOT NULL
  RETURN b.id AS id, CASE
    WHEN EXISTS { (:Episode {id: b.id}) } THEN 'an episode that was erased and is stored'
  END AS detail
  UNION ALL
  MATCH (s:Session)
  WHERE s.tenant = $tenant AND s.name IS NOT NULL
  RETURN s.id AS id,
    CASE WHEN NOT EXISTS { (s)<-[:IN_SESSION]-() } THEN 'a session without episodes' END AS detail
  UNION ALL
  MATCH (n:Name)
  WHERE n.tenant = $tenant AND n.normalised IS NOT NULL
  RETURN coalesce(n.id, n.normalised) AS id, CASE
    WHEN n:Concept AND NOT EXISTS { (n)-[:MENTIONS|ABOUT]-() }
      THEN 'a concept that nothing mentions'
    WHEN NOT n:Concept AND EXISTS { (n)--() } THEN 'edges of a name that is no concept'
    WHEN NOT n:Concept AND n.titles <= 0 AND n.candidates <= 0 AND n.stated <= 0
      THEN 'a name that nothing has'
  END AS detail
}
// use: symptoms(id)
