// A concept through time
//
// Every memory that mentions a name, oldest first: reads how something changed. Put the
// name between the quotes, in lower case, without punctuation.
WITH 'linden' AS name
MATCH (concept:Concept {normalised: name})
MATCH (concept)-[:MENTIONS|ABOUT]-(memory:Episode)
RETURN memory.occurred_at AS occurred_at, memory.speaker AS speaker, memory.text AS text,
       memory.session AS session, memory, concept
ORDER BY occurred_at, memory.ordinal, memory.id
LIMIT 100
