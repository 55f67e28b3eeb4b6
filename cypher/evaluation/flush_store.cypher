// doc: Write all changed pages to the store's files, so that their sizes tell what data take.
// mode: write
CYPHER 25
CALL db.checkpoint() YIELD success
FINISH
