// doc: List the concepts that live episodes are about and mention, without hubs of mentions, and the
//   live episodes about concepts, or that mention them unless hubs.
// mode: read
// params: tenant STRING, episodes LIST<STRING>, concepts LIST<STRING>, hub INTEGER
// returns: episode LIST<STRING>, concept LIST<STRING>, is_about LIST<BOOLEAN>,
//   label LIST<STRING>, mentions LIST<INTEGER>, abouts LIST<INTEGER>
CYPHER 25
CALL () {
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
  RETURN e, c, is_about
  UNION ALL
  UNWIND $concepts AS id
  MATCH (c:Concept {id: id})
  WHERE c.tenant = $tenant AND c:LiveConcept
  CALL (c) {
    WITH c
    WHERE c.mentions <= $hub
    MATCH (c)<-[:MENTIONS]-(e:LiveEpisode)
    RETURN e, false AS is_about
    UNION ALL
    MATCH (c)-[:ABOUT]->(e:LiveEpisode)
    RETURN e, true AS is_about
  }
  RETURN e, c, is_about
}
WITH e.id AS episode, c.id AS concept, is_about, c
ORDER BY episode, concept, is_about
RETURN collect(episode) AS episode, collect(concept) AS concept, collect(is_about) AS is_about,
  collect(c.name) AS label, collect(c.mentions) AS mentions, collect(c.abouts) AS abouts
