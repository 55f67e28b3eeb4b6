// doc: Read the record of a session from its engram.
WITH *, node.topic AS topic, node.valence AS valence, node.novelty AS novelty,
  [i IN range(0, size(coalesce(node.decisions, [])) - 1) |
    {text: node.decisions[i], episode: node.decided_in[i]}] AS decisions,
  [i IN range(0, size(coalesce(node.open_questions, [])) - 1) |
    {text: node.open_questions[i], episode: node.asked_in[i]}] AS open_questions
