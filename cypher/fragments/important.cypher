// doc: Compute how important an episode is: by feedback, else the most of its own and of its names.
//   1 to 5 of a name is 0 to 1 of an episode.
WITH *, COLLECT {
  MATCH (node)-[stated:MENTIONS]->(:Concept)
  WHERE stated.importance IS NOT NULL
  RETURN (stated.importance - 1) / 4.0
} AS of_names
WITH *, coalesce(node.salience, reduce(
  most = node.importance, one IN of_names | CASE WHEN one > most THEN one ELSE most END
)) AS importance
