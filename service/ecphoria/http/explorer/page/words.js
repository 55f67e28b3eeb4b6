// Every sentence of the page, and the words for names of the API.

const plural = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
const LOCALE = "en-GB";

/** A day as written on the page. @param {string|null|undefined} moment */
export function day(moment) {
  if (!moment) return "";
  const [year, month, date] = moment.slice(0, 10).split("-").map(Number);
  const options = { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" };
  return new Date(Date.UTC(year, month - 1, date)).toLocaleDateString(LOCALE, options);
}

/** How long ago something was. @param {string} moment @param {number} [now] */
export function ago(moment, now = Date.now()) {
  const seconds = Math.max(0, (now - Date.parse(moment)) / 1000);
  const units = [[86400, "day"], [3600, "hour"], [60, "minute"]];
  const [size, unit] = units.find(([least]) => seconds >= least) || [1, "second"];
  return `${plural(Math.floor(seconds / size), unit)} ago`;
}

export const VERDICTS = {
  answer: "I remember",
  verify: "I think I remember",
  refuse: "I don't know",
  empty: "I don't know",
};

export const STREAMS = {
  text: "words of the cue",
  vector: "meaning of the cue",
  name: "a name in the cue",
  fact: "a fact near the cue",
  rank: "found first",
  session: "its session",
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
  dark: "not awake yet",
  seed: "seed",
  awake: "awake",
  cut: "cut",
  hit: "hit",
};

export const KEYS = [
  ["/", "write a cue"],
  ["space", "play or stop"],
  ["← →", "one step back or on"],
  ["j k", "next or previous hit"],
  ["enter", "open or close the hit"],
  ["e", "export"],
  ["g a", "Ask"],
  ["g t", "Traces"],
  ["g c", "Concepts"],
  ["?", "this list"],
  ["esc", "stop a recall, close a list"],
];

export const W = {
  name: "Ecphoria",
  tabs: { ask: "Ask", traces: "Traces", concept: "Concepts" },
  signIn: "Sign in",
  signInHow: "Run this on the service's machine. It opens the page signed in:",
  signInCommand: "ecphoria explore",
  signInKey: "Or paste a key of the service. It stays in this tab and is forgotten with it.",
  key: "Key",
  keyHint: "Leave it empty if the service asks for none.",
  signingIn: "Signing in",
  signOut: "Sign out",
  keyEnded: "The service does not take this key any more. Your cue is kept: sign in to go on.",
  wrongKey: "The service does not know this key, or it was revoked.",
  usedTicket: "This link was used or is too old. Run the command again for a new one.",
  operator: "operator",
  tenant: "Tenant",
  chooseTenant: "Choose a tenant",
  otherTenant: (name) => `This link is for the tenant ${name}. Sign in for that tenant to follow it.`,
  theme: "Dark or light",
  keys: "Keys",
  close: "Close",
  noAnswer: "The service does not answer",
  outage: (s) => `The service does not answer. The next try is in ${plural(s, "second")}; the page stays as it is.`,
  tooMany: (s) => `Too many requests. The page waits ${plural(s, "second")}, as the service asks.`,
  tryAgain: "Try again",
  request: (id) => `Request ${id}`,
  forbidden: "This key may not do that. Ask for a key with the scope that the message names.",
  gone: "It was erased or dropped.",
  loading: "Loading",
  recalling: "Recalling",
  stop: "Stop",
  ask: {
    title: "Ask",
    cue: "Cue",
    hint: "Ask a question, as you would ask a friend",
    strategy: "Strategy",
    standard: (name) => `${name} (default)`,
    asOf: "As of",
    more: "More",
    recall: "Recall",
    speaker: "Speaker",
    session: "Session",
    from: "Occurred from",
    before: "Occurred before",
    k: "Hits",
    match: "Words",
    matches: { any: "any word", all: "all words", phrase: "the phrases" },
    asker: "Who asks",
    dormant: "Search dormant memories too",
    rerank: "Let the reader order the first five",
    record: "Record this recall",
    recordOff: "Off: the recall leaves no trace in the memory.",
    recordOn: "On: the recall leaves a trace, and the memory learns from it.",
    start: "Ask something to see how its memories wake.",
    stopped: "Stopped. Nothing was changed.",
    noneStored: "Nothing is stored yet.",
    noneStoredHow: "Fill the memory with one of these:",
    noneMatch: (n) => `${plural(n, "memory", "memories")} stored, but none matches this cue and these filters.`,
    confidence: "confidence",
    gateOwn: "gate of this tenant",
    gateShipped: "shipped gate",
    toPicture: "To the picture",
    ms: (n) => `${Math.round(n).toLocaleString("en")} ms`,
    recorded: (when) => `Recorded ${when}.`,
    again: "Ask again now",
    traceGone: "This trace was erased or dropped. Ask the question again.",
    degraded: (what) => `Missing: ${what}.`,
    second: "Found only among dormant memories.",
  },
  tabsOfAnswer: { hits: "Hits", misses: "Near misses", context: "Context", gate: "Gate" },
  hit: {
    erased: "erased",
    open: "Show the path",
    opened: "Path shown",
    foundBy: (stream, energy) => `found by ${stream} ${energy.toFixed(2)}`,
    over: (edge, energy) => `${edge} ${energy.toFixed(2)}`,
    here: "this memory",
    copies: (n) => `said ${n} times`,
    outdated: (when) => `outdated since ${when}`,
    outdatedBy: (rank) => `outdated by hit ${rank}`,
    echo: "only repeats the question",
    dormant: "dormant",
    pin: "Pin",
    pinned: "Pinned",
    pinWhy: "A pinned memory never becomes dormant.",
    unpin: "Undo: unpin",
    whole: (n) => `Show all ${n.toLocaleString("en")} characters`,
    note: "note",
    noHits: "No memory was recalled.",
  },
  misses: {
    none: "No other memory came near.",
    why: "These came nearest and stay below the cut. They are no answer.",
  },
  context: {
    why: (tokens) => `What a model reads, ${plural(tokens, "token")}. Each line leads to its hit.`,
    none: "A trace holds no texts. Ask again to see the context.",
    goTo: (n) => `Show hit ${n}`,
  },
  gate: {
    why: "The gate weighs this evidence and gives the confidence, 0 to 1.",
    figure: "Evidence",
    value: "Value",
  },
  picture: {
    label: (step, awake, hits) => `${step}. ${plural(awake, "node")} awake, ${plural(hits, "hit")}.`,
    first: "First step",
    back: "One step back",
    play: "Play",
    pause: "Pause",
    next: "One step on",
    step: "Step",
    short: { cue: "cue", seeds: "seeds", wave: (n) => `w${n}`, score: "score", hits: "hits" },
    cue: "The cue comes in. Nothing is awake yet.",
    seeds: (told) => `Seeds: ${told}.`,
    seedsBy: (n, stream) => `${n} by ${stream}`,
    noSeeds: "No seed was found.",
    wave: (n, of, shown, out) =>
      `Wave ${n} of ${of}: ${plural(shown, "edge")} shown, ${out.toLocaleString("en")} weaker not.`,
    marks: (told) => ` Marks: ${told}.`,
    score: "The score of each memory is put together from its parts, and the gate weighs the evidence.",
    hits: (n) => `${plural(n, "hit")} in the order of their scores.`,
    table: (n) => `The picture as a table: ${plural(n, "node")}`,
    legend: {
      seed: "seed", awake: "awake", cut: "cut", dormant: "dormant", hit: "hit", concept: "concept",
      column: "a session, its first turn on top",
    },
    folded: (n) => `${plural(n, "session")} without a node of this recall ${n === 1 ? "is" : "are"} narrow.`,
    columns: ["Node", "Kind", "Session", "Place", "State now", "Hit"],
    unnamed: "erased",
    concepts: "concepts",
    notes: "notes",
    noSession: "no session",
  },
  compare: {
    with: "Compare with",
    none: "nothing",
    rank: (name) => `Rank in ${name}`,
    joined: (n) => `${plural(n, "hit")} in both, joined by lines.`,
    title: "Ranks",
  },
  export: {
    title: "Export",
    png: "Picture (PNG)",
    svg: "Picture (SVG)",
    json: "Trace (JSON)",
    made: (version, when) => `Ecphoria ${version}, ${when}`,
  },
  traces: {
    title: "Traces",
    why: "Recalls that left a trace, the newest first.",
    columns: ["When", "Cue", "Strategy", "Verdict", "Confidence", "First hit"],
    verdict: "Verdict",
    all: "all",
    none: "No recall has left a trace yet.",
    noneHow: "A recall leaves one unless it says no:",
    noneHere: "No trace has this verdict.",
    more: "Show more",
    noHit: "no hit",
  },
  concept: {
    title: "Concepts",
    find: "Find a concept",
    mentions: (n) => plural(n, "memory", "memories"),
    none: "No concept is stored yet.",
    noneHere: (q) => `No concept has "${q}" in its name.`,
    choose: "Choose a concept to see what is known about it.",
    span: (first, last) => (first === last ? first : `${first} to ${last}`),
    neighbours: "Related concepts",
    noNeighbours: "Nothing is related to it yet.",
    facts: "Facts",
    not: "not:",
    noFacts: "No fact is stored about it.",
    memories: "Memories",
    edges: {
      RELATED: "by a fact", ASSOCIATED: "mentioned together", SYNONYM: "nearly the same words", SAME_AS: "the same, merged",
    },
    clock: (n, m) => `${plural(n, "related concept")} inside, ${plural(m, "memory", "memories")} around, by time.`,
    strongest: (shown, all) => `The ${shown} strongest of ${all} nodes.`,
    holds: (from, to) => (to ? `${from} to ${to}` : `since ${from}`),
    ask: "Ask about it",
  },
};
