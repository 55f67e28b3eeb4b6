// doc: Find facts by what they may contradict, those to be laid out anew, and decisions.
// mode: schema
CYPHER 25
CREATE INDEX fact_key IF NOT EXISTS
FOR (n:Fact) ON (n.tenant, n.subject, n.relation, n.qualifier);

CYPHER 25
CREATE INDEX fact_relation IF NOT EXISTS FOR (n:Fact) ON (n.tenant, n.relation);

CYPHER 25
CREATE INDEX fact_touched IF NOT EXISTS FOR (n:Fact) ON (n.tenant, n.touched);

CYPHER 25
CREATE CONSTRAINT decision_id IF NOT EXISTS FOR (n:Decision) REQUIRE n.id IS UNIQUE;

CYPHER 25
CREATE INDEX decision_number IF NOT EXISTS FOR (n:Decision) ON (n.tenant, n.number);

CYPHER 25
MATCH (f:Fact)
WHERE f.relation IS NULL
CALL (f) {
  SET f.relation = toLower(replace(f.predicate, '_', ' ')), f.qualifier = '',
    f.negated = false, f.touched = true
} IN TRANSACTIONS OF 1000 ROWS;
