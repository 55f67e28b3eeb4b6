// doc: Mark the facts whose subject is one of these names, or merged with one.
// mode: write
// params: tenant STRING, names LIST<STRING>
// plan: Eager all names are found before the first fact is marked
CYPHER 25
UNWIND $names AS name
MATCH (:Name {tenant: $tenant, normalised: name})
  (()-[r:SAME_AS WHERE r.status = 'accepted']-(:Name)){0,5}(n:Name)
WITH DISTINCT n.normalised AS subject
MATCH (f:Fact {tenant: $tenant, subject: subject})
WHERE f.relation IS NOT NULL
SET f.touched = true
