// doc: Delete those of the words that no item has in lower case any more.
// mode: write
// params: tenant STRING, words LIST<STRING>
// plan: Eager the index finds all of them before the first is deleted, batches are small
CYPHER 25
UNWIND $words AS word
MATCH (w:Word {tenant: $tenant, word: word})
WHERE w.items <= 0
DELETE w
