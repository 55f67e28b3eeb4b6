// A concept through time
//
// Every memory that mentions a name, oldest first: reads how something changed. Put the
// name between the quotes, in lower case, without punctuation; without one it is the name
// with the most mentions.
WITH '' AS name
CALL (name) {
  MATCH (chosen:Concept)
  WHERE chosen.normalised = name OR (name = '' AND chosen:LiveConcept)
  RETURN chosen AS concept
  ORDER BY concept.mentions + concept.abouts DESC, concept.id
  LIMIT 1
}
MATCH (concept)-[:MENTIONS|ABOUT]-(memory:Episode)
RETURN memory.occurred_at AS occurred_at, memory.speaker AS speaker, memory.text AS text,
       memory.session AS session, memory, concept
ORDER BY occurred_at, memory.ordinal, memory.id
LIMIT 100
