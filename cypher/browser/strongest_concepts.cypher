// Strongest concepts
//
// What a memory space is about: the concepts with most memories, and how long each has
// been spoken of. `abouts` counts the items whose title it is.
MATCH (concept:LiveConcept)
WITH concept
ORDER BY concept.mentions + concept.abouts DESC, concept.name, concept.id
LIMIT 25
OPTIONAL MATCH (concept)-[:MENTIONS|ABOUT]-(memory:LiveEpisode)
RETURN concept.name AS concept, concept.kind AS kind, concept.mentions AS mentions,
       concept.abouts AS abouts, min(memory.occurred_at) AS first,
       max(memory.occurred_at) AS last, concept.id AS id
ORDER BY mentions + abouts DESC, concept, id
LIMIT 25
