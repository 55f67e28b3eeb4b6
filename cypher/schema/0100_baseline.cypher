// doc: Create the keys and indexes of the first release.
// mode: schema
// params: vectors MAP
CYPHER 25
// Every node has a key that the store itself keeps unique.
CREATE CONSTRAINT tenant_id IF NOT EXISTS FOR (n:Tenant) REQUIRE n.id IS UNIQUE;

CYPHER 25
CREATE CONSTRAINT tenant_name IF NOT EXISTS FOR (n:Tenant) REQUIRE n.name IS UNIQUE;

CYPHER 25
CREATE CONSTRAINT api_key_id IF NOT EXISTS FOR (n:ApiKey) REQUIRE n.id IS UNIQUE;

CYPHER 25
CREATE CONSTRAINT api_key_hash IF NOT EXISTS FOR (n:ApiKey) REQUIRE n.hash IS UNIQUE;

CYPHER 25
CREATE CONSTRAINT episode_id IF NOT EXISTS FOR (n:Episode) REQUIRE n.id IS UNIQUE;

CYPHER 25
CREATE CONSTRAINT concept_id IF NOT EXISTS FOR (n:Concept) REQUIRE n.id IS UNIQUE;

CYPHER 25
CREATE CONSTRAINT trace_id IF NOT EXISTS FOR (n:Trace) REQUIRE n.id IS UNIQUE;

CYPHER 25
CREATE CONSTRAINT session_name IF NOT EXISTS
FOR (n:Session) REQUIRE (n.tenant, n.name) IS UNIQUE;

CYPHER 25
CREATE CONSTRAINT speaker_name IF NOT EXISTS
FOR (n:Speaker) REQUIRE (n.tenant, n.name) IS UNIQUE;

CYPHER 25
CREATE CONSTRAINT term_stem IF NOT EXISTS
FOR (n:Term) REQUIRE (n.tenant, n.stem) IS UNIQUE;

CYPHER 25
CREATE CONSTRAINT word_word IF NOT EXISTS
FOR (n:Word) REQUIRE (n.tenant, n.word) IS UNIQUE;

CYPHER 25
CREATE CONSTRAINT name_normalised IF NOT EXISTS
FOR (n:Name) REQUIRE (n.tenant, n.normalised) IS UNIQUE;

CYPHER 25
CREATE CONSTRAINT fact_id IF NOT EXISTS FOR (n:Fact) REQUIRE n.id IS UNIQUE;

CYPHER 25
CREATE CONSTRAINT job_id IF NOT EXISTS FOR (n:Job) REQUIRE n.id IS UNIQUE;

CYPHER 25
CREATE CONSTRAINT job_slot IF NOT EXISTS FOR (n:Job) REQUIRE n.slot IS UNIQUE;

CYPHER 25
CREATE CONSTRAINT decision_id IF NOT EXISTS FOR (n:Decision) REQUIRE n.id IS UNIQUE;

CYPHER 25
CREATE CONSTRAINT engram_id IF NOT EXISTS FOR (n:Engram) REQUIRE n.id IS UNIQUE;

CYPHER 25
CREATE CONSTRAINT passage_id IF NOT EXISTS FOR (n:Passage) REQUIRE n.id IS UNIQUE;

CYPHER 25
CREATE CONSTRAINT tombstone_id IF NOT EXISTS FOR (n:Tombstone) REQUIRE n.id IS UNIQUE;

CYPHER 25
CREATE CONSTRAINT import_id IF NOT EXISTS FOR (n:Import) REQUIRE n.id IS UNIQUE;

CYPHER 25
CREATE CONSTRAINT item_address IF NOT EXISTS
FOR (n:Item) REQUIRE (n.tenant, n.path, n.key) IS UNIQUE;

CYPHER 25
CREATE CONSTRAINT reembedding_id IF NOT EXISTS FOR (n:Reembedding) REQUIRE n.id IS UNIQUE;

CYPHER 25
// Lists are walked in the order of an index instead of sorted.
CREATE INDEX episode_turn IF NOT EXISTS FOR (n:Episode) ON (n.tenant, n.turn);

CYPHER 25
CREATE INDEX episode_ordinal IF NOT EXISTS
FOR (n:Episode) ON (n.tenant, n.session, n.ordinal);

CYPHER 25
CREATE INDEX episode_occurred_at IF NOT EXISTS
FOR (n:Episode) ON (n.tenant, n.session, n.occurred_at);

CYPHER 25
CREATE INDEX trace_created_at IF NOT EXISTS FOR (n:Trace) ON (n.tenant, n.created_at);

CYPHER 25
CREATE INDEX api_key_tenant IF NOT EXISTS FOR (n:ApiKey) ON (n.tenant);

CYPHER 25
CREATE INDEX fact_recorded_at IF NOT EXISTS FOR (n:Fact) ON (n.tenant, n.recorded_at);

CYPHER 25
CREATE INDEX trace_pending_since IF NOT EXISTS FOR (n:Trace) ON (n.tenant, n.pending_since);

CYPHER 25
CREATE INDEX job_run_after IF NOT EXISTS FOR (n:Job) ON (n.run_after);

CYPHER 25
CREATE INDEX job_recorded_at IF NOT EXISTS FOR (n:Job) ON (n.tenant, n.recorded_at);

CYPHER 25
CREATE INDEX dormant_turn IF NOT EXISTS FOR (n:DormantEpisode) ON (n.tenant, n.turn);

CYPHER 25
CREATE INDEX archived_turn IF NOT EXISTS FOR (n:ArchivedEpisode) ON (n.tenant, n.turn);

CYPHER 25
CREATE INDEX fact_key IF NOT EXISTS
FOR (n:Fact) ON (n.tenant, n.subject, n.relation, n.qualifier);

CYPHER 25
CREATE INDEX fact_relation IF NOT EXISTS FOR (n:Fact) ON (n.tenant, n.relation);

CYPHER 25
CREATE INDEX fact_object IF NOT EXISTS FOR (n:Fact) ON (n.tenant, n.object);

CYPHER 25
CREATE INDEX fact_touched IF NOT EXISTS FOR (n:Fact) ON (n.tenant, n.touched);

CYPHER 25
CREATE INDEX decision_number IF NOT EXISTS FOR (n:Decision) ON (n.tenant, n.number);

CYPHER 25
CREATE INDEX episode_touched IF NOT EXISTS FOR (n:Episode) ON (n.tenant, n.touched);

CYPHER 25
CREATE INDEX concept_touched IF NOT EXISTS FOR (n:Concept) ON (n.tenant, n.touched);

CYPHER 25
CREATE INDEX session_touched IF NOT EXISTS FOR (n:Session) ON (n.tenant, n.touched);

CYPHER 25
CREATE INDEX engram_recorded_at IF NOT EXISTS FOR (n:Engram) ON (n.tenant, n.recorded_at);

CYPHER 25
CREATE INDEX passage_turn IF NOT EXISTS FOR (n:Passage) ON (n.tenant, n.turn);

CYPHER 25
CREATE INDEX tombstone_erased_at IF NOT EXISTS FOR (n:Tombstone) ON (n.tenant, n.erased_at);

CYPHER 25
CREATE INDEX item_expires_at IF NOT EXISTS FOR (n:Item) ON (n.tenant, n.expires_at);

CYPHER 25
CREATE INDEX item_updated_at IF NOT EXISTS FOR (n:Item) ON (n.tenant, n.updated_at, n.key);

CYPHER 25
CREATE INDEX episode_expires_at IF NOT EXISTS FOR (n:Episode) ON (n.tenant, n.expires_at);

CYPHER 25
// Texts are found by our own stems, or by phrases of their words, inside a tenant.
CREATE FULLTEXT INDEX episode_terms IF NOT EXISTS
FOR (n:LiveEpisode) ON EACH [n.tenant, n.terms, n.words]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};

CYPHER 25
CREATE FULLTEXT INDEX passage_terms IF NOT EXISTS
FOR (n:LivePassage) ON EACH [n.tenant, n.terms]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};

CYPHER 25
CREATE FULLTEXT INDEX engram_terms IF NOT EXISTS
FOR (n:Engram) ON EACH [n.tenant, n.terms]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};

CYPHER 25
// Vectors are filtered inside the index.
CREATE VECTOR INDEX episode_embedding IF NOT EXISTS
FOR (n:LiveEpisode) ON n.embedding
WITH [n.tenant, n.session, n.speaker, n.occurred_at]
OPTIONS $vectors;

CYPHER 25
CREATE VECTOR INDEX concept_embedding IF NOT EXISTS
FOR (n:LiveConcept) ON n.embedding
WITH [n.tenant]
OPTIONS $vectors;

CYPHER 25
CREATE VECTOR INDEX fact_embedding IF NOT EXISTS
FOR (n:LiveFact) ON n.embedding
WITH [n.tenant]
OPTIONS $vectors;

CYPHER 25
CREATE VECTOR INDEX passage_embedding IF NOT EXISTS
FOR (n:LivePassage) ON n.embedding
WITH [n.tenant, n.session, n.speaker, n.occurred_at]
OPTIONS $vectors;

CYPHER 25
CREATE VECTOR INDEX item_embedding IF NOT EXISTS
FOR (n:Item) ON n.embedding
WITH [n.tenant, n.path]
OPTIONS $vectors;

CYPHER 25
CREATE VECTOR INDEX engram_embedding IF NOT EXISTS
FOR (n:Engram) ON n.embedding
WITH [n.tenant]
OPTIONS $vectors;
