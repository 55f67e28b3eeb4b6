// doc: Filter inside a vector index; an absent filter has ranges that hold everything.
// params: session_from STRING, session_to STRING, speaker_from STRING, speaker_to STRING,
//   occurred_from DATETIME, occurred_before DATETIME
AND node.session >= $session_from AND node.session <= $session_to
AND node.speaker >= $speaker_from AND node.speaker <= $speaker_to
AND node.occurred_at >= $occurred_from AND node.occurred_at < $occurred_before
