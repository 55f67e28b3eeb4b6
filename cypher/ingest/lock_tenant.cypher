// doc: Take the tenant's write lock, then read its counters.
// mode: write
// params: tenant STRING
// returns: change INTEGER, named INTEGER, sequence INTEGER, stated INTEGER, timed BOOLEAN,
//   classes STRING, recalls INTEGER, settings JSON, generation INTEGER, load STRING, loaded INTEGER
// plan: Eager one row, of the tenant; the store is read when the lock is held
CYPHER 25
MATCH (t:Tenant {id: $tenant})
// A write that changes something locks the node until the commit; one that does not may not.
SET t.locked_at = datetime()
WITH t
// Of a node deleted while this waited nothing is set, and every property is null.
WHERE t.locked_at IS NOT NULL AND t.erasing IS NULL
RETURN t.change AS change, t.change - coalesce(t.names_kept, 0) AS named, t.turn AS sequence,
  coalesce(t.stated, 0) AS stated,
  coalesce(t.timed, false) AS timed, t.classes AS classes,
  coalesce(t.recall_total, 0) AS recalls, t.settings AS settings,
  coalesce(head(COLLECT { MATCH (s:Store {id: 'store'}) RETURN s.generation }), 0) AS generation,
  t.load AS load, coalesce(t.loaded, 0) AS loaded
