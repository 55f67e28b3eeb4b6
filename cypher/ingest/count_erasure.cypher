// doc: Count by kind what goes with the episodes that pass filters, and the traces that show them.
// mode: read
// params: exclude LIST<STRING>
// returns: passages INTEGER, sessions INTEGER, speakers INTEGER, concepts INTEGER, facts INTEGER,
//   decisions INTEGER, engrams INTEGER, traces INTEGER
CYPHER 25
// use: chosen(e)
WITH e
WHERE NOT e.id IN $exclude
  // use: filtered(e)
WITH collect(e) AS gone, sum(COUNT { (e)-[:HAS_PASSAGE]->() }) AS passages
CALL (gone) {
  UNWIND gone AS e
  MATCH (e)-[:IN_SESSION]->(s:Session)
  WITH s, count(e) AS lost
  WHERE lost = COUNT { (s)<-[:IN_SESSION]-() }
  RETURN count(s) AS sessions
}
CALL (gone) {
  UNWIND gone AS e
  MATCH (e)-[:SPOKEN_BY]->(p:Speaker)
  WITH p, count(e) AS lost
  WHERE lost = COUNT { (p)<-[:SPOKEN_BY]-() }
  RETURN count(p) AS speakers
}
CALL (gone) {
  UNWIND gone AS e
  MATCH (e)-[r:MENTIONS|ABOUT]-(c:Concept)
  WITH c, count(r) AS lost
  WHERE lost = COUNT { (c)-[:MENTIONS|ABOUT]-() }
  RETURN count(c) AS concepts
}
CALL (gone) {
  UNWIND gone AS e
  MATCH (e)<-[r:EVIDENCE]-(f:Fact)
  WITH f, count(r) AS lost
  WHERE lost = COUNT { (f)-[:EVIDENCE]->() }
  RETURN count(f) AS facts, sum(COUNT { (f)<-[:DECIDES]-() }) AS decisions
}
CALL (gone) {
  UNWIND gone AS e
  MATCH (e)<-[:EVIDENCE]-(g:Engram)
  RETURN count(DISTINCT g) AS engrams
}
CALL (gone) {
  UNWIND gone AS e
  MATCH (e)<-[:WOKE|SEEDED]-(t:Trace)
  RETURN count(DISTINCT t) AS traces
}
RETURN passages, sessions, speakers, concepts, facts, decisions, engrams, traces
