// doc: Find the description of a concept by its most important mention, of equal ones the latest.
WITH *, head(COLLECT {
  MATCH (node)<-[told:MENTIONS]-(by:Episode)
  WHERE coalesce(told.description, told.cognitive) IS NOT NULL
  RETURN {description: told.description, cognitive: told.cognitive}
  ORDER BY told.description IS NULL, coalesce(told.importance, 0) DESC, by.occurred_at DESC, by.id
  LIMIT 1
}) AS told
