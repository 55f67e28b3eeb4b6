// doc: Take labels out of stored traces and names out of reports of jobs, and find what was erased.
// mode: schema
CYPHER 25
CREATE CONSTRAINT tombstone_id IF NOT EXISTS FOR (n:Tombstone) REQUIRE n.id IS UNIQUE;

CYPHER 25
CREATE INDEX tombstone_erased_at IF NOT EXISTS FOR (n:Tombstone) ON (n.tenant, n.erased_at);

CYPHER 25
MATCH (t:Trace)
WHERE t.payload CONTAINS '"label": "'
CALL (t) {
  // JSON escapes quotes inside of strings. With these two put aside, a quote ends a string.
  WITH t, replace(replace(t.payload, '\\\\', '\u0001'), '\\"', '\u0002') AS plain
  WITH t, split(plain, '"label": "') AS parts
  WITH t, reduce(text = head(parts), part IN tail(parts) |
    text + '"label": "' + substring(part, size(head(split(part, '"'))))) AS plain
  WITH t, split(plain, '"about": "') AS parts
  WITH t, reduce(text = head(parts), part IN tail(parts) |
    text + '"about": "' + CASE
      WHEN head(split(part, '"')) IN ['user', 'assistant', 'tool', 'system'] THEN part
      ELSE substring(part, size(head(split(part, '"'))))
    END) AS plain
  SET t.payload = replace(replace(plain, '\u0002', '\\"'), '\u0001', '\\\\')
} IN TRANSACTIONS OF 100 ROWS;

CYPHER 25
MATCH (j:Job)
WHERE j.report CONTAINS '"kind": "propose"'
  OR any(step IN j.ended WHERE step CONTAINS '"kind": "propose"')
CALL (j) {
  UNWIND range(-1, size(coalesce(j.ended, [])) - 1) AS place
  WITH j, place, CASE WHEN place < 0 THEN j.report ELSE j.ended[place] END AS text
  WITH j, place, replace(replace(text, '\\\\', '\u0001'), '\\"', '\u0002') AS plain
  WITH j, place, split(plain, '{"kind": "propose", "id": "') AS parts
  WITH j, place, reduce(text = head(parts), part IN tail(parts) |
    text + '{"kind": "propose", "id": "", "detail": "'
      + substring(part, size(head(split(part, '"}'))))) AS plain
  WITH j, place, replace(replace(plain, '\u0002', '\\"'), '\u0001', '\\\\') AS text
  ORDER BY place
  WITH j, collect(CASE WHEN place < 0 THEN text END) AS report,
    collect(CASE WHEN place >= 0 THEN text END) AS ended
  SET j.report = head(report), j.ended = ended
} IN TRANSACTIONS OF 100 ROWS;
