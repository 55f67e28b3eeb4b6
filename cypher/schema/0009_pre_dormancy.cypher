// doc: Walk what sleeps, and what is in the archive, by turn.
// mode: schema
CYPHER 25
CREATE INDEX dormant_turn IF NOT EXISTS FOR (n:DormantEpisode) ON (n.tenant, n.turn);

CYPHER 25
CREATE INDEX archived_turn IF NOT EXISTS FOR (n:ArchivedEpisode) ON (n.tenant, n.turn);
