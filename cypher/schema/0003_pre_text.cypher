// doc: Find live episodes by our own stems, or by phrases of their words, inside a tenant.
// mode: schema
CYPHER 25
CREATE FULLTEXT INDEX episode_terms IF NOT EXISTS
FOR (n:LiveEpisode) ON EACH [n.tenant, n.terms, n.words]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};
