// doc: Create the names that queries know, because Neo4j plans a query anew while one is missing.
// mode: schema
CYPHER 25
UNWIND [
  'Imported', 'Store'
] AS name
CALL db.createLabel(name);

CYPHER 25
UNWIND [
  'ABOUT', 'ASSOCIATED', 'DECIDES', 'EVIDENCE', 'HAS_PASSAGE', 'IN_SESSION', 'MENTIONS', 'NEXT',
  'OBJECT', 'RELATED', 'SAME_AS', 'SEEDED', 'SIMILAR', 'SPOKEN_BY', 'SUBJECT', 'SUMMARISES',
  'SYNONYM', 'WOKE'
] AS name
CALL db.createRelationshipType(name);

CYPHER 25
UNWIND [
  'abouts', 'access_count', 'access_recent', 'applied_at', 'archive_digest', 'archive_file',
  'archive_offset', 'archived_at', 'asked_in', 'associated_total', 'associated_turn',
  'attempt_at', 'attempt_done', 'attempts', 'before', 'body_hash', 'by', 'cancelling',
  'candidates', 'chain_at', 'change', 'checksum', 'choice', 'coactivations', 'code', 'cognitive',
  'confidence', 'contested_by', 'cosine', 'crowd', 'crowd_cosine', 'crowd_turn', 'cue',
  'decided_at', 'decided_by', 'decided_in', 'decisions', 'description', 'digest', 'dimension',
  'done', 'dormant_at', 'due_at', 'effects_applied', 'embedding_1', 'end', 'ended',
  'engram_formula', 'episode', 'episodes', 'erasing', 'expires_from', 'extracted_by', 'fact',
  'family', 'feedback_total', 'finished_at', 'first_access_at', 'first_person', 'generation',
  'held_at', 'held_from', 'held_until', 'holder', 'idempotency_key', 'import_number', 'import_of',
  'importance', 'is_question', 'items', 'kind', 'last_used', 'learning_since', 'lease_until',
  'length', 'lif_i', 'lif_turn', 'lif_v', 'light_turn', 'locked_at', 'members', 'mentions',
  'message', 'metadata', 'method', 'model', 'names_kept', 'namespace', 'negated', 'novelty',
  'open_questions', 'other', 'passages', 'payload', 'pinned', 'place', 'position', 'predicate',
  'predicate_class', 'prefix', 'prior', 'r1', 'r2', 'rank', 'reason', 'recall_count',
  'recall_total', 'refused', 'reliability', 'reliability_0', 'report', 'revoked_at', 'reward_neg',
  'reward_pos', 'role', 'ruling', 'salience', 'scale', 'scheduled_turn', 'scopes', 'searched',
  'second_person', 'settings', 'source', 'spike_strengths', 'spike_turns', 'stability',
  'stability_at', 'standing', 'start', 'started_at', 'state', 'state_reason', 'stated',
  'statement', 'status', 'steps', 'strategy', 'summary', 'superseded_by', 'switched_at', 'tau',
  'text', 'time_expression', 'timed', 'title', 'titles', 'token', 'topic', 'total', 'trigger',
  'undoes', 'until', 'useful', 'utc_offset', 'valence', 'valid_from', 'valid_to', 'value',
  'verdict', 'w_learned', 'w_lift', 'w_sim', 'weight', 'why'
] AS name
CALL db.createProperty(name);
