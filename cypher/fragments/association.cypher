// doc: Find an association edge by its type and ends.
// params: tenant STRING
CALL (node) {
  WHEN node.edge = 'SIMILAR' THEN {
    MATCH (one:Episode {id: node.one})-[r:SIMILAR]->(other:Episode)
    WHERE one.tenant = $tenant AND other.id = node.other
    RETURN r
  }
  WHEN node.edge = 'ASSOCIATED' THEN {
    MATCH (one:Concept {id: node.one})-[r:ASSOCIATED]->(other:Concept)
    WHERE one.tenant = $tenant AND other.id = node.other
    RETURN r
  }
}
