// Timeline of a session
//
// The turns of one session in their order, as a chain and as a table. Shows the session
// that ended last; for another, put its name into the second line, as in
// WHERE session.name = '2025-05-10'.
MATCH (session:Session)
WHERE session.name IS NOT NULL
CALL (session) {
  MATCH (turn:Episode)-[:IN_SESSION]->(session)
  RETURN max(turn.occurred_at) AS ended
}
WITH session, ended
ORDER BY ended DESC, session.id
LIMIT 1
MATCH (turn:Episode)-[:IN_SESSION]->(session)
OPTIONAL MATCH (turn)-[next:NEXT]->(:Episode)-[:IN_SESSION]->(session)
RETURN turn.occurred_at AS occurred_at, turn.speaker AS speaker, turn.text AS text, turn, next
ORDER BY turn.ordinal, turn.id
LIMIT 300
