// doc: Give the RELATED edge of a fact the weight of its evidence; that of a retracted one is 0.
MATCH (node)-[:SUBJECT]->(tail:Concept)
MATCH (node)-[:OBJECT]->(head:Concept)
MATCH (tail)-[r:RELATED]->(head)
WHERE r.fact = node.id
SET r.weight = CASE node.standing WHEN 'retracted' THEN 0.0 ELSE 1 - reduce(
  doubt = 1.0, share IN COLLECT {
    MATCH (node)-[stated:EVIDENCE]->(:Episode)
    WITH stated.weight * stated.reliability AS share
    RETURN share
    ORDER BY share
  } | doubt * (1 - share)
) END
