// doc: Add to the number of items with lower-case words; create new words.
// mode: write
// params: tenant STRING, words LIST<STRING>, items LIST<INTEGER>
CYPHER 25
UNWIND range(0, size($words) - 1) AS i
MERGE (w:Word {tenant: $tenant, word: $words[i]})
ON CREATE SET w.items = $items[i]
ON MATCH SET w.items = w.items + $items[i]
