// doc: Keep the episodes of a kind, as sent or by its form.
// params: kind STRING
AND ($kind IS NULL OR $kind = coalesce(node.kind, CASE
  WHEN node.role = 'tool' THEN 'procedural' WHEN node.title IS NOT NULL THEN 'semantic'
  ELSE 'episodic'
END))
