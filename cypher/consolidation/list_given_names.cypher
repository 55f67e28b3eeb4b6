// doc: Find among the concepts given for each of some concepts the near ones that no rule of names
//   has compared.
// mode: read
// params: tenant STRING, concepts LIST<STRING>, near LIST<LIST<STRING>>
CYPHER 25
UNWIND range(0, size($concepts) - 1) AS place
MATCH (a:Concept {id: $concepts[place]})
WHERE a.tenant = $tenant AND a:LiveConcept AND a.embedding IS NOT NULL
WITH place, a, vector(a.embedding, size(a.embedding), FLOAT32) AS here
UNWIND $near[place] AS id
MATCH (b:Concept {id: id})
WHERE b.tenant = $tenant AND b:LiveConcept
// use: unnamed(a)
