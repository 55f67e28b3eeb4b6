// doc: Index the objects of facts.
// mode: schema
// params:
CYPHER 25
CREATE INDEX fact_object IF NOT EXISTS FOR (n:Fact) ON (n.tenant, n.object);
