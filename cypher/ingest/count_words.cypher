// doc: Add to the numbers of items with stems and with lower-case words; create new ones.
// mode: write
// params: tenant STRING, stems LIST<STRING>, stem_items LIST<INTEGER>, words LIST<STRING>,
//   word_items LIST<INTEGER>
// plan: Eager all stems are counted before the first word
CYPHER 25
CALL () {
  UNWIND range(0, size($stems) - 1) AS i
  MERGE (t:Term {tenant: $tenant, stem: $stems[i]})
  ON CREATE SET t.items = $stem_items[i]
  ON MATCH SET t.items = t.items + $stem_items[i]
}
CALL () {
  UNWIND range(0, size($words) - 1) AS i
  MERGE (w:Word {tenant: $tenant, word: $words[i]})
  ON CREATE SET w.items = $word_items[i]
  ON MATCH SET w.items = w.items + $word_items[i]
}
