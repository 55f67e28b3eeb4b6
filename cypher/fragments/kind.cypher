// doc: Tell the kind of an episode, as sent or by its form.
coalesce(node.kind, CASE
  WHEN node.role = 'tool' THEN 'procedural' WHEN node.title IS NOT NULL THEN 'semantic'
  ELSE 'episodic'
END)
