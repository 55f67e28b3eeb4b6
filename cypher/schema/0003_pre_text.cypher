// doc: Find live episodes by our own stems; the tenant is a token of the same index.
// mode: schema
CYPHER 25
CREATE FULLTEXT INDEX episode_terms IF NOT EXISTS
FOR (n:LiveEpisode) ON EACH [n.tenant, n.terms]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};
