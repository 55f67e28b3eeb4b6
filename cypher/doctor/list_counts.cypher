// doc: List the stored counts of every stem, word in lower case, and name.
// mode: read
// params: tenant STRING
// returns: stems LIST<LIST<ANY>>, words LIST<LIST<ANY>>, names LIST<LIST<ANY>>
CYPHER 25
RETURN COLLECT {
  MATCH (t:Term)
  WHERE t.tenant = $tenant AND t.stem IS NOT NULL
  RETURN [t.stem, t.items]
  ORDER BY t.stem
} AS stems, COLLECT {
  MATCH (w:Word)
  WHERE w.tenant = $tenant AND w.word IS NOT NULL
  RETURN [w.word, w.items]
  ORDER BY w.word
} AS words, COLLECT {
  MATCH (n:Name)
  WHERE n.tenant = $tenant AND n.normalised IS NOT NULL
  RETURN [n.normalised, n.titles, n.candidates]
  ORDER BY n.normalised
} AS names
