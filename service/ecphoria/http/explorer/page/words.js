// Every sentence of the page, and the words for names of the API.

const plural = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
const LOCALE = "en-GB";

/** A day as written on the page. @param {string|null|undefined} moment */
export function day(moment) {
  if (!moment) return "";
  const [year, month, date] = moment.slice(0, 10).split("-").map(Number);
  /** @type {Intl.DateTimeFormatOptions} */
  const options = { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" };
  return new Date(Date.UTC(year, month - 1, date)).toLocaleDateString(LOCALE, options);
}

/** By how much the clock of the service is ahead of that of the browser, in milliseconds. */
export const clock = { ahead: 0 };
export const now = () => Date.now() + clock.ahead;

/** How long ago something was. @param {string} moment */
export function ago(moment) {
  const seconds = Math.max(0, (now() - Date.parse(moment)) / 1000);
  /** @type {[number, string][]} */
  const units = [[86400, "day"], [3600, "hour"], [60, "minute"]];
  const [size, unit] = units.find(([least]) => seconds >= least) || [1, "second"];
  return `${plural(Math.floor(seconds / size), unit)} ago`;
}

export const VERDICTS = {
  answer: "I remember", verify: "I think I remember", refuse: "I don't know", empty: "I don't know",
};

export const STREAMS = {
  text: "words of the cue", vector: "meaning of the cue", name: "a name in the cue", fact: "a fact near the cue",
  rank: "found first", session: "its session",
};

/** Parts of a score: a short name, and the sentence behind it. */
export const PARTS = {
  lex: ["words", "The memory, or a turn next to it, has words of the cue. Rare words count more."],
  sem: ["meaning", "Its meaning is near the meaning of the cue."],
  ctx: ["turns around", "Its meaning together with the turns around it is near the cue."],
  spk: ["who spoke", "The person whom the cue is about said it."],
  len: ["length", "Turns of medium length get most: a few words say little."],
  isq: ["question", "It only asks, or says that nobody knows. That counts less."],
  texp: ["time words", "It names a time, and the cue asks for one."],
  date: ["date", "It is close to a date of the cue."],
  concepts: ["concepts", "Energy that came over the concepts of the cue."],
  concept: ["concepts", "Energy that came over the concepts of the cue."],
  echo: ["echo", "It only repeats the question, so it is no evidence."],
  newest: ["newest", "It was moved above a memory that it makes outdated, or below."],
  reader: ["reader", "The reader changed its place among the first five."],
  current: ["current", "The fact that it claims still holds, or does so no longer."],
  base: ["text", "The score of its text: words and meaning together."],
  activation: ["activation", "Energy that reached it over the graph."],
  bridge: ["bridge", "Energy that came from document to document over concepts."],
  context: ["context", "Energy from the other seeds, which are its context."],
  presence: ["presence", "It is often and lately in use."],
  importance: ["importance", "The importance with which it was stored."],
  prior: ["usefulness", "Earlier feedback called it useful."],
  probability: ["probability", "The probability that it is recalled."],
};

export const EVIDENCE = {
  share: ["whose memories match", "The share of the match that is about the named person, minus one half."],
  coverage: ["their words", "The best share of the cue's words in one memory about the named person, minus the others' best."],
  unsaid: ["said only by others", "The share of the cue's words that only others said."],
  unheard: ["said by nobody", "The weight of the rarest word that nobody said."],
  similarity: ["nearest meaning", "How near any memory comes in meaning."],
  joint: ["words and meaning", "The words of the cue in one memory, times its nearness."],
  top_similarity: ["first hit's meaning", "How near the first hit is in meaning."],
  gap: ["gap", "How far the first hit stands above the tenth."],
  fact_contrast: ["facts", "How well facts about the named person match, minus the others' best."],
  reader: ["reader", "How surely the reader finds the answer in one of the first five; above 0 it rather does."],
};
/** Evidence that only says which gate judges. */
export const SWITCHES = ["names_one", "asks_when", "unread"];

export const STATES = {
  dark: "not awake yet", seed: "seed", awake: "awake", cut: "cut", hit: "hit", live: "live", dormant: "dormant", archived: "archived",
};

export const STANDINGS = {
  held: "held", denial: "denied", contested: "contested", candidate: "too little evidence", retracted: "retracted",
};

export const RULINGS = {
  retract: "Retracted", keep_open: "Kept both", set_interval: "Set the time of", set_class: "Set the class of", undo: "Undid",
};

export const MERGES = { proposed: "proposed", accepted: "accepted", rejected: "rejected" };

export const KEYS = [
  ["/", "write a cue"], ["space", "play or stop"], ["← →", "one step back or on"], ["j k", "next or previous hit"],
  ["enter", "open or close the hit"], ["e", "export"],
  ["g a", "Ask"], ["g x", "Traces"], ["g t", "Timeline"], ["g c", "Concepts"], ["g r", "Review"], ["g f", "Forgetting"],
  ["a r", "accept or reject the merge"], ["l u", "put the merge off, or undo the last decision about one"],
  ["?", "this list"], ["esc", "stop a recall, close a list"],
];

export const W = {
  name: "Ecphoria",
  tabs: { ask: "Ask", traces: "Traces", timeline: "Timeline", concept: "Concepts", review: "Review", forgetting: "Forgetting" },
  signIn: "Sign in", signInHow: "Run this on the service's machine. It opens the page signed in:",
  signInCommand: "ecphoria explore",
  signInKey: "Or paste a key of the service. It stays in this tab and is forgotten with it.", key: "Key",
  keyHint: "Leave it empty if the service asks for none.", signingIn: "Signing in", signOut: "Sign out",
  keyEnded: "The service does not take this key any more. Your cue is kept: sign in to go on.",
  wrongKey: "The service does not know this key, or it has expired or was revoked.",
  usedTicket: "This link was used or is too old. Run the command again for a new one.",
  operator: "operator", allow: "Allow changes", tenant: "Tenant", chooseTenant: "Choose a tenant",
  tenantOf: (name, made) => `${name}, since ${made}`,
  otherTenant: (name) => `This link is for the tenant ${name}. Sign in for that tenant to follow it.`,
  theme: "Dark or light", keys: "Keys", close: "Close", noAnswer: "The service does not answer",
  outage: (s) => `The service does not answer. The next try is in ${plural(s, "second")}; the page stays as it is.`,
  tooMany: (s) => `Too many requests. The page waits ${plural(s, "second")}, as the service asks.`,
  tryAgain: "Try again", request: (id) => `Request ${id}`,
  forbidden: "This key may not do that. Ask for a key with the scope that the message names.",
  more: "Show more", gone: "It was erased or dropped.", loading: "Loading", recalling: "Recalling", stop: "Stop",
  ask: {
    title: "Ask", cue: "Cue", hint: "Ask a question, as you would ask a friend", strategy: "Strategy",
    standard: (name) => `${name} (default)`,
    asOf: "As of", more: "More", recall: "Recall", speaker: "Speaker", session: "Session",
    from: "Occurred from", before: "Occurred before", k: "Hits", match: "Words",
    matches: { any: "any word", all: "all words", phrase: "the phrases" },
    asker: "Who asks", dormant: "Search dormant memories too", rerank: "Let the reader order the first five",
    record: "Record this recall", recordOff: "Off: the recall leaves no trace in the memory.",
    recordOn: "On: the recall leaves a trace, and the memory learns from it.",
    start: "Ask something to see how its memories wake.", stopped: "Stopped. Nothing was changed.",
    noneStored: "Nothing is stored yet.", noneStoredHow: "Fill the memory with one of these:",
    noneMatch: (n) => `${plural(n, "memory", "memories")} stored, but none matches this cue and these filters.`,
    confidence: "confidence", toPicture: "To the picture", ms: (n) => `${Math.round(n).toLocaleString("en")} ms`,
    recorded: (when) => `Recorded ${when}.`,
    again: "Ask again now",
    since: ({ verdict, confidence, left }) =>
      `The trace said "${VERDICTS[verdict]}", confidence ${confidence.toFixed(2)}. ${left ? `${plural(left, "of its hits is", "of its hits are")} not here any more` : "All its hits are here"}.`,
    traceGone: "This trace was erased or dropped. Ask the question again.", degraded: (what) => `Missing: ${what}.`,
    second: "Found only among dormant memories.",
  },
  tabsOfAnswer: { hits: "Hits", misses: "Near misses", context: "Context", gate: "Gate", answer: "Answer" },
  hit: {
    erased: "erased", open: "Show the path", opened: "Path shown",
    foundBy: (stream, energy) => `found by ${stream} ${energy.toFixed(2)}`,
    over: (edge, energy) => `${edge} ${energy.toFixed(2)}`,
    here: "this memory",
    was: (rank) => (rank ? `was hit ${rank}` : "was no hit"),
    copies: (n) => `said ${n} times`,
    outdated: (when) => `outdated since ${when}`,
    outdatedBy: (rank) => `outdated by hit ${rank}`,
    echo: "only repeats the question", dormant: "dormant", pin: "Pin", pinned: "Pinned",
    pinWhy: "A pinned memory never becomes dormant.", unpin: "Undo: unpin",
    useful: ["Useful", "Marked as useful"],
    useless: ["Not useful", "Marked as not useful"],
    judgeWhy: "The memory learns from it. A hit is judged once a recall, for good.",
    whole: (n) => `Show all ${n.toLocaleString("en")} characters`,
    note: "note", noHits: "No memory was recalled.",
  },
  misses: { none: "No other memory came near.", why: "These came nearest and stay below the cut. They are no answer." },
  context: {
    why: (tokens) => `What a model reads, ${plural(tokens, "token")}. Each line leads to its hit.`,
    none: "A trace holds no texts. Ask again to see the context.", goTo: (n) => `Show hit ${n}`,
  },
  gate: {
    why: "The gate weighs this evidence and gives the confidence, 0 to 1.",
    kinds: {
      own: "gate of this tenant", shipped: "shipped gate", scaled: "shipped gate, on the scale of this tenant",
      strategy: "gate of the strategy",
    },
    weighed: (sure, { threshold, verify_below }) =>
      `The confidence is ${sure.toFixed(2)}. Below ${threshold.toFixed(2)} the memory does not know, from ${verify_below.toFixed(2)} on it remembers.`,
    figure: "Evidence", value: "Value",
  },
  answer: {
    why: "The language model of the service reads the memories and answers. Each sentence shows its quotes. Nothing is recorded.",
    ask: "Answer in words", asking: "Answering",
    hit: (rank, speaker) => [`Hit ${rank}`, speaker].filter(Boolean).join(", "),
    made: (model, tokens, dropped) => `${model}, ${plural(tokens, "token")}${dropped ? `, ${plural(dropped, "sentence")} without a quote left out` : ""}.`,
  },
  picture: {
    label: (step, awake, hits) => `${step}. ${plural(awake, "node")} awake, ${plural(hits, "hit")}.`,
    first: "First step", back: "One step back", play: "Play", pause: "Pause", next: "One step on", step: "Step",
    short: { cue: "cue", seeds: "seeds", wave: (n) => `w${n}`, score: "score", hits: "hits" },
    cue: "The cue comes in. Nothing is awake yet.", seeds: (told) => `Seeds: ${told}.`,
    seedsBy: (n, stream) => `${n} by ${stream}`,
    noSeeds: "No seed was found.",
    wave: (n, of, shown, out) =>
      `Wave ${n} of ${of}: ${plural(shown, "edge")} shown, ${out.toLocaleString("en")} weaker not.`,
    marks: (told) => ` Marks: ${told}.`,
    score: (weighed) => `Each score is put together from its parts, and the gate weighs the evidence. ${weighed}`,
    hits: (n) => `${plural(n, "hit")} in the order of their scores.`,
    table: (n) => `The picture as a table: ${plural(n, "node")}`,
    legend: {
      seed: "seed", awake: "awake", cut: "cut", dormant: "dormant", hit: "hit", concept: "concept",
      column: "a session, its first turn on top",
    },
    folded: (n) => `${plural(n, "session")} without a node of this recall ${n === 1 ? "is" : "are"} narrow.`,
    further: "Only sessions with a node of this recall have a column.",
    columns: ["Node", "Kind", "Session", "Place", "State now", "Hit"],
    unnamed: "erased", concepts: "concepts", notes: "notes", noSession: "no session",
  },
  compare: {
    with: "Compare with", none: "nothing", rank: (name) => `Rank in ${name}`,
    joined: (n) => `${plural(n, "hit")} in both, joined by lines.`,
    title: "Ranks",
  },
  export: {
    title: "Export", png: "Picture (PNG)", svg: "Picture (SVG)", json: "Trace (JSON)",
    made: (version, when) => `Ecphoria ${version}, ${when}`,
  },
  traces: {
    title: "Traces", why: "Recalls that left a trace, the newest first.",
    columns: ["When", "Cue", "Strategy", "Verdict", "Confidence", "First hit"],
    verdict: "Verdict", all: "all", none: "No recall has left a trace yet.",
    noneHow: "A recall leaves one unless it says no:", noneHere: "No trace has this verdict.", noHit: "no hit",
  },
  concept: {
    title: "Concepts", find: "Find a concept",
    mentions: (n) => plural(n, "memory", "memories"),
    none: "No concept is stored yet.", noneHere: (q) => `No concept has "${q}" in its name.`,
    choose: "Choose a concept to see what is known about it.",
    span: (first, last) => (first === last ? first : `${first} to ${last}`),
    neighbours: "Related concepts", noNeighbours: "Nothing is related to it yet.", facts: "Facts", not: "not:",
    noFacts: "No fact is stored about it.",
    memories: "Memories", noMemories: "Every memory of it was archived or erased.",
    columns: ["Node", "Kind", "Edges away", "Day", "State now"],
    edges: {
      RELATED: "by a fact", ASSOCIATED: "mentioned together", SYNONYM: "nearly the same words", SAME_AS: "the same, merged",
    },
    clock: (n, m) => `${plural(n, "related concept")} inside, ${plural(m, "memory", "memories")} around, by time.`,
    further: "Two edges away", strongest: (shown, all) => `The ${shown} strongest of ${all} nodes.`,
    holds: (from, to) => (to ? `${from} to ${to}` : `since ${from}`),
    ask: "Ask about it",
  },
  facts: {
    evidence: (value) => `evidence ${value.toFixed(2)}`,
    noWords: "Its words cannot be shown: the memory is archived or erased.",
    ways: { retract: "Retract", keep_open: "Keep both", set_interval: "Set its time" },
    confirm: { retract: "Retract it", keep_open: "Keep both", set_interval: "Set its time" },
    tells: {
      retract: "It counts as wrong from the next recall. You can undo this.",
      keep_open: "Both facts hold side by side from the next recall. You can undo this.",
      set_interval: "It holds in this time only, from the next recall. You can undo this.",
    },
    from: "Holds from", to: "until (empty: still)", why: "Reason", undo: "Undo", undone: "undone",
    number: (n) => `no. ${n}`,
    beside: (other) => `beside: ${other}`,
  },
  review: {
    title: "Review", contradictions: "Contradictions", noContradictions: "No fact contradicts another.",
    about: "About", merges: "Merges", status: "Show", noMerges: "No merge waits for a decision.",
    noMergesHere: "No merge has this status.", and: " and ", cosine: "cosine",
    joins: (n) => `${plural(n, "memory", "memories")} ${n === 1 ? "speaks" : "speak"} of either.`,
    timelines: "A merge puts these on one timeline:",
    side: (mentions, facts) => `${plural(mentions, "memory", "memories")}, ${plural(facts, "fact")}`,
    accept: "Accept", reject: "Reject", later: "Later", undo: "Undo", decisions: "Decisions",
    noDecisions: "Nothing was decided yet.", cycle: "Consolidation", noCycle: "No consolidation is done yet.",
    run: "Run now", dry: "Dry run: change nothing", progress: "Steps done", job: (kind, state) => `${kind}: ${state}`,
    ran: (when, seconds) => `Last run ${when}, ${seconds.toFixed(1)} s.`,
    steps: (n) => plural(n, "step"),
    columns: ["Step", "Status", "Seconds", "Counts"],
    changes: (n) => plural(n, "change"),
  },
  timeline: {
    title: "Timeline", by: "Bars by",
    units: { month: "month", day: "day", session: "session" },
    none: "Nothing is stored yet.", noneOf: (name) => `${name} said nothing that is stored.`,
    strip: "Memories over time; the arrows choose a bar",
    bar: (name, live, dormant, archived) => `${name}: ${live} live, ${dormant} dormant, ${archived} archived`,
    most: (n) => `The highest bar has ${plural(n, "memory", "memories")}.`,
    choose: "Choose a bar to read its memories.", noBucket: "There is nothing in this range any more.",
    search: "Search it for all these words", known: "What was known, and when",
    knownWhy: "Move the first to see what held at a time, the second to see what the memory knew by then.",
    noFacts: "No fact is stored.", happened: "Happened by", knownBy: "Known by", now: "now",
    told: (known, all) => `${known} of ${plural(all, "fact")} known.`,
    first: (n) => ` Only the last ${n} facts are shown.`,
    states: { holds: "holds", over: "no longer", later: "not yet", unknown: "not known yet" },
  },
  forgetting: {
    title: "Forgetting", lists: "Lists",
    tabs: { live: "Live", dormant: "Dormant", archived: "Archived", pinned: "Pinned", expiring: "Expiring", erase: "Erase" },
    why: {
      live: "A live memory is found by every recall. This shows what a policy would make dormant; it changes nothing.",
      dormant: "A dormant memory is kept with its words, and found only if a recall asks for dormant ones.",
      archived: "The words of an archived memory are in a file. Restored, it is dormant again.",
      pinned: "A pinned memory never becomes dormant.",
      expiring: "An expiring memory is erased at its end, the soonest first.",
      erase: "Choose by filters, or in the lists, what to erase. Nothing is erased before you have seen how much that is.",
    },
    none: {
      live: "No memory is live.", dormant: "No memory is dormant.", archived: "No memory is archived.", pinned: "No memory is pinned.",
      expiring: "No memory expires.",
    },
    mode: "Policy", ownMode: "as set",
    modes: { off: "off", budget: "budget", threshold: "threshold" },
    budget: "Live memories to keep", quiet: "Quiet days",
    apply: "Set this policy", applyWhy: "Each consolidation applies it from now on. Set another to undo this.", next: "Next to become dormant",
    of: (n, live) => `${n.toLocaleString("en")} of ${live.toLocaleString("en")} live`,
    noNext: "This policy makes no memory dormant now.", allLive: "All live memories, the newest first",
    chosen: (n) => `${n} chosen`,
    choose: "Choose", sleep: "Make dormant", wake: "Wake", restore: "Restore", unpin: "Unpin", keep: "Never expire",
    expires: (when) => `expires ${when}`,
    doom: "Erase", since: (when, reason) => `${when}: ${reason}`,
    damaged: (n) => `${plural(n, "memory", "memories")} cannot be restored: the archive has lost or changed the record.`,
    filters: {
      session: ["Session", "text"], speaker: ["Speaker", "text"], from: ["Occurred from", "date"], before: ["Occurred before", "date"],
    },
    preview: "Show what would go", noMatch: "No memory matches. Nothing would be erased.",
    would: (n) => `${plural(n, "memory", "memories")} would be erased`,
    onlyChosen: (n) => `Only the ${plural(n, "memory", "memories")} that you chose.`,
    everything: "Filter all memories instead",
    removes: {
      facts: ["fact without other evidence", "facts without other evidence"], decisions: ["decision about a fact", "decisions about facts"],
      concepts: ["concept that no other memory mentions", "concepts that no other memory mentions"],
      engrams: ["summary, which a consolidation can make anew", "summaries, which a consolidation can make anew"],
      passages: ["passage"], sessions: ["session without another memory", "sessions without another memory"],
      speakers: ["speaker without another memory", "speakers without another memory"],
    },
    remove: (n, one) => plural(n, ...one),
    stays: (n) => `${plural(n, "trace")} ${n === 1 ? "shows" : "show"} them and will show them as erased.`,
    forEver: "This cannot be undone. The database's transaction log keeps the texts for up to 48 hours.",
    type: (n) => `Type ${n} to confirm`,
    eraseNow: "Erase", erased: (n) => `${plural(n, "memory", "memories")} erased.`,
  },
};
