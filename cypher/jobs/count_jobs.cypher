// doc: Count the jobs of all tenants by state.
// mode: read
// returns: state STRING, jobs INTEGER
CYPHER 25
MATCH (j:Job)
RETURN j.state AS state, count(*) AS jobs
