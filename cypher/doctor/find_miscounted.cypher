// doc: Find concepts and speakers whose counts differ from their edges.
// mode: read
// params: tenant STRING
CYPHER 25
CALL () {
  MATCH (n:Name)
  WHERE n.tenant = $tenant AND n.normalised IS NOT NULL
  WITH n, COUNT { (n)<-[:MENTIONS]-() } AS mentions, COUNT { (n)-[:ABOUT]->() } AS abouts,
    COUNT { (n)<-[r:MENTIONS]-() WHERE r.stated } AS stated
  RETURN coalesce(n.id, n.normalised) AS id, CASE
    WHEN n:Concept AND n.mentions <> mentions
      THEN 'mentions: ' + n.mentions + ' stored, ' + mentions + ' found'
    WHEN n:Concept AND n.abouts <> abouts
      THEN 'abouts: ' + n.abouts + ' stored, ' + abouts + ' found'
    WHEN n.stated <> stated
      THEN 'stated: ' + n.stated + ' stored, ' + stated + ' found'
    WHEN n.titles < 0 OR n.candidates < 0 THEN 'a count below zero'
  END AS detail
  UNION ALL
  MATCH (p:Speaker)
  WHERE p.tenant = $tenant AND p.name IS NOT NULL
  WITH p, COUNT { (p)<-[:SPOKEN_BY]-() } AS episodes
  RETURN p.id AS id, CASE
    WHEN p.episodes <> episodes OR p.episodes <= 0
      THEN 'episodes: ' + p.episodes + ' stored, ' + episodes + ' found'
  END AS detail
}
// use: symptoms(id)
