// Where two people's memories meet
//
// The concepts that both have spoken of, the evenly shared first, with the earliest memory
// of each. Put two names between the quotes; without them it is the two who spoke most.
WITH '' AS one, '' AS other
CALL () {
  MATCH (most:Speaker)
  WHERE most.name IS NOT NULL
  WITH most
  ORDER BY most.episodes DESC, most.name
  LIMIT 2
  RETURN collect(most.name) AS spoke
}
WITH CASE WHEN one = '' THEN spoke[0] ELSE one END AS one,
     CASE WHEN other = '' THEN spoke[1] ELSE other END AS other
MATCH (mine:LiveEpisode {speaker: one})-[:MENTIONS]->(bridge:LiveConcept)
WITH one, other, bridge, mine
ORDER BY mine.occurred_at, mine.id
WITH one, other, bridge, collect(mine) AS told_by_one
MATCH (theirs:LiveEpisode {speaker: other})-[:MENTIONS]->(bridge)
WITH one, other, bridge, told_by_one, theirs
ORDER BY theirs.occurred_at, theirs.id
WITH one, other, bridge, told_by_one, collect(theirs) AS told_by_other
WITH bridge, told_by_one[0] AS mine, told_by_other[0] AS theirs,
     size(told_by_one) AS by_one, size(told_by_other) AS by_other
RETURN bridge.name AS concept, by_one, by_other, mine.text AS first_of_one,
       theirs.text AS first_of_other, bridge, mine, theirs
ORDER BY CASE WHEN by_one < by_other THEN by_one ELSE by_other END DESC,
         by_one + by_other DESC, bridge.name, bridge.id
LIMIT 25
