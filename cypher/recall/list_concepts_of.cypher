// doc: List the concepts that live episodes are about and mention, without hubs of mentions.
// mode: read
// params: tenant STRING, episodes LIST<STRING>, hub INTEGER
// returns: episode LIST<STRING>, concept LIST<STRING>, is_about LIST<BOOLEAN>,
//   label LIST<STRING>, mentions LIST<INTEGER>, abouts LIST<INTEGER>
CYPHER 25
UNWIND $episodes AS id
MATCH (e:Episode {id: id})
WHERE e.tenant = $tenant AND e:LiveEpisode
CALL (e) {
  MATCH (e)-[:MENTIONS]->(c:LiveConcept)
  WHERE c.mentions <= $hub
  RETURN c, false AS is_about
  UNION ALL
  MATCH (e)<-[:ABOUT]-(c:LiveConcept)
  RETURN c, true AS is_about
}
WITH e.id AS episode, c.id AS concept, is_about, c
ORDER BY episode, concept, is_about
RETURN collect(episode) AS episode, collect(concept) AS concept, collect(is_about) AS is_about,
  collect(c.name) AS label, collect(c.mentions) AS mentions, collect(c.abouts) AS abouts
