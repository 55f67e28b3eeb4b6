// Neighbourhood of a memory
//
// A memory with what it touches: the turns before and after it, its session, the concepts
// it mentions or is about, and up to five other memories that mention each of them.
// Put words from the memory between the quotes (lower case); the newest match is shown, and
// without words the newest memory that mentions a concept.
// With an id at hand, begin with MATCH (memory:Episode {id: '...'}) WITH memory instead.
WITH '' AS words
MATCH (memory:LiveEpisode)
WHERE (words = '' AND EXISTS { (memory)-[:MENTIONS|ABOUT]-(:Concept) })
   OR (words <> '' AND toLower(memory.text) CONTAINS words)
WITH memory
ORDER BY memory.occurred_at DESC, memory.id
LIMIT 1
OPTIONAL MATCH beside = (memory)-[:NEXT|IN_SESSION]-()
WITH memory, collect(beside) AS around
OPTIONAL MATCH named = (memory)-[:MENTIONS|ABOUT]-(concept:Concept)
CALL (memory, concept) {
  OPTIONAL MATCH further = (concept)-[:MENTIONS|ABOUT]-(other:LiveEpisode)
  WHERE other <> memory
  RETURN further
  ORDER BY other.occurred_at, other.id
  LIMIT 5
}
RETURN memory, around, named, further
ORDER BY concept.name, concept.id
LIMIT 200
