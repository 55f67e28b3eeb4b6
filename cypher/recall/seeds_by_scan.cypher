// doc: Compare one by one, with a vector or a cue's stems, all live episodes that pass filters, or the
//   newest dormant ones.
// mode: read
// params: tenant STRING
CYPHER 25
// use: scanned(e)
// use: compared(e)
// use: best_episodes(e)
