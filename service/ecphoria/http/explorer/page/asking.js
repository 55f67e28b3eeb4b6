// What was asked, and what came back: the state behind the screen Ask.
import { signal } from "./vendor.js";
import { call, Problem, stream } from "./api.js";
import { columnsOf, storyOf } from "./parts/scene.js";

/**
 * @typedef {{phase: "start"|"asking"|"stopped"|"failed"|"shown", of?: string, recorded?: boolean, problem?: any, shown?: any, other?: any,
 *   stories?: import("./parts/scene.js").Story[], columns?: any[], stored?: number}} Asked
 */

/** @type {{value: Asked}} */
export const asked = signal({ phase: "start" });
/** The form, kept while a key ends. @type {{value: Record<string, string>}} */
export const draft = signal({});
/** Whether the next recall leaves a trace; no link can say so. */
export const record = signal(false);
export const strategies = signal([]);
/** The answer in words: of which recall, its sentences so far, and the whole. @type {{value: any}} */
export const said = signal(null);
export const playing = signal(false);

/** What of the address decides the recall; the rest only chooses how to look at it. */
const FIELDS = [
  "cue", "strategy", "as_of", "speaker", "session", "from", "before", "k", "match", "asker", "dormant", "rerank", "trace", "compare", "was",
];
let sessions = null;
let last = null;
let running = null;
let saying = null;

export const keyOf = (query) => JSON.stringify(FIELDS.map((name) => query[name] ?? ""));

/** Forget everything: the next tenant must not see it. */
export function forgetAsked() {
  stop();
  sessions = null;
  last = null;
  asked.value = { phase: "start" };
  said.value = null;
  draft.value = {};
  record.value = false;
  strategies.value = [];
}

export function stop() {
  playing.value = false;
  running?.abort();
  saying?.abort();
}

/** Let the language model answer the question of a recall; nothing is recorded. */
export async function askModel(shown) {
  const mine = new AbortController();
  saying = mine;
  said.value = { of: shown, sentences: [] };
  const change = (changes) => { if (saying === mine) said.value = { ...said.value, ...changes }; };
  const take = (name, data) => {
    if (name === "sentence") change({ sentences: [...said.value.sentences, data] });
    else if (name === "answer") change({ sentences: data.sentences, whole: data });
    else change({ problem: new Problem(data.status, data) });
  };
  try {
    await stream("/v1/ask/stream", questionOf(shown), mine.signal, take);
    if (!said.value?.whole && !said.value?.problem) change({ problem: new Problem(0) });  // it was cut off
  } catch (problem) {
    if (problem instanceof Problem) change({ problem });
    else if (saying === mine) said.value = null;
  }
}

/** The question of a recall, with those of its options that an answer in words has. */
function questionOf({ trace }) {
  const { cue, strategy, k, filters, as_of, known_at, rerank } = trace;
  return { question: cue, strategy, k, filters, as_of, known_at, rerank, record: false };
}

/** Follow the address; a recall that is shown already is not asked again. */
export function follow(query) {
  if (keyOf(query) === last) return;
  if (query.cue || query.trace) {
    draft.value = Object.fromEntries(FIELDS.filter((name) => query[name]).map((name) => [name, query[name]]));
    run(query, false);
  } else {
    stop();
    last = keyOf(query);
    asked.value = { phase: "start" };
  }
}

/** Recall, or read a trace. @param {Record<string, string>} query @param {boolean} recorded */
export async function run(query, recorded) {
  stop();
  const mine = new AbortController();
  running = mine;
  last = keyOf(query);
  asked.value = { phase: "asking" };
  try {
    const found = await both(query, recorded, mine.signal);
    if (running !== mine) return;
    asked.value = { phase: "shown", of: keyOf(query), ...found };
    if (query.trace) draft.value = { ...draft.value, cue: found.shown.cue, strategy: found.shown.strategy };
  } catch (problem) {
    if (running !== mine) return;
    if (problem instanceof Problem && problem.status === 401) last = null;
    asked.value = problem instanceof Problem ? { phase: "failed", problem } : { phase: "stopped", recorded };
    if (!(problem instanceof Problem) && problem.name !== "AbortError") throw problem;
  }
}

async function both(query, recorded, signal) {
  const trace = query.trace ? await traceOf(query.trace, signal) : null;
  const former = query.was ? await formerOf(query.was, signal) : null;
  // A trace is compared with a recall of today that asks the same.
  const body = trace ? bodyOf(fieldsOf(trace), trace) : bodyOf(query, former);
  // They are the strategy's own.
  const options = former && former.strategy === query.strategy ? former.options : undefined;
  const [shown, other] = await Promise.all([
    trace ? shownTrace(trace) : recalled({ ...body, options }, query.strategy, recorded, signal),
    query.compare ? recalled(body, query.compare, false, signal) : null,
    columnsRead(signal),
  ]);
  if (former) tellChanges(shown, former);
  const stories = [shown, other].filter(Boolean).map((each) => storyOf(each.trace));
  const stored = shown.hits.length ? null : (await call("GET", "/v1/stats", { signal })).episodes;
  return { shown, other, stories, columns: columnsOf(stories, sessions), further: sessions.further, stored };
}

/** What changed since a trace: each hit has its former rank, 0 if it was no hit. */
function tellChanges(shown, former) {
  const ranks = new Map(former.hits.map((hit) => [hit.episode, hit.rank]));
  for (const hit of shown.hits) hit.was = ranks.get(hit.id) ?? 0;
  shown.former = { ...former, left: ranks.size - shown.hits.filter((hit) => hit.was).length };
}

const traceOf = (id, signal) => call("GET", `/v1/traces/${encodeURIComponent(id)}`, { signal });

/** The trace that is asked again; null if it was erased or dropped. */
function formerOf(id, signal) {
  return traceOf(id, signal).catch((problem) => {
    if (problem.status === 404) return null;
    throw problem;
  });
}

const SESSIONS = 1000;

/** All sessions, or none if they are too many for columns of their own. */
async function columnsRead(signal) {
  if (sessions) return;
  const { items, next_cursor: further } = await call("GET", "/v1/sessions", { query: { limit: SESSIONS }, signal });
  sessions = further ? [] : items;
  sessions.further = Boolean(further);
}

async function recalled(asks, strategy, recorded, signal) {
  const body = { ...asks, strategy: strategy || null, record: recorded, explain: true };
  return shownRecall(await call("POST", "/v1/recall", { body, signal, again: !recorded }), recorded);
}

/** The fields of the form with which a trace was asked. */
export function fieldsOf(trace) {
  const { cue, k, as_of, filters, match } = trace;
  return {
    cue, k: k === 10 ? "" : k, as_of: as_of ?? "", speaker: filters.speaker, session: filters.session, from: filters.occurred_from,
    before: filters.occurred_before, match: match === "any" ? "" : match, dormant: trace.include_dormant ? "1" : "", rerank: trace.rerank ? "1" : "",
  };
}

/** The body of a recall, as the form says; a trace that is asked again may have more filters than the form. */
function bodyOf(query, former) {
  const filters = {
    ...former?.filters, speaker: query.speaker || null, session: query.session || null,
    occurred_from: instant(query.from), occurred_before: instant(query.before),
  };
  return {
    cue: query.cue, k: Number(query.k) || 10, filters, as_of: instant(query.as_of), known_at: former?.known_at, match: query.match || "any",
    asker: query.asker || null, include_dormant: query.dormant === "1", rerank: query.rerank === "1" || null,
  };
}

/** A day of the form is the start of that day. */
export const instant = (given) => (given ? (given.length === 10 ? `${given}T00:00:00Z` : given) : null);

function shownRecall(answer, recorded) {
  const ranks = new Map(answer.hits.map((hit) => [hit.episode.id, hit.rank]));
  const hits = answer.hits.map((hit) => ({
    ...hit.episode, rank: hit.rank, score: hit.score, parts: hit.parts, path: hit.path, echo: hit.echo,
    copies: hit.copies.length + 1, superseded_at: hit.superseded_at, outdatedBy: ranks.get(hit.outdated_by),
  }));
  return { ...answer, cue: answer.trace.cue, hits, recorded: recorded ? answer.trace_id : null, recordedAt: null };
}

function shownTrace(trace) {
  const nodes = new Map(trace.nodes.map((node) => [node.id, node]));
  const hits = trace.hits.map((hit) => tracedHit(hit, nodes.get(hit.episode)));
  return { ...trace, hits, misses: [], context: null, references: [], timings_ms: {}, degraded: [], trace, recorded: trace.id, recordedAt: trace.created_at };
}

function tracedHit(hit, node) {
  const said = { rank: hit.rank, score: hit.score, parts: hit.parts, path: hit.path, id: hit.episode, useful: hit.useful };
  if (!node) return { ...said, erased: true, text: "" };
  const text = node.speaker && node.label.startsWith(`${node.speaker}: `) ? node.label.slice(node.speaker.length + 2) : node.label;
  return { ...said, text, speaker: node.speaker, occurred_at: node.occurred_at, session: node.session, state: node.state };
}

export async function readStrategies() {
  if (!strategies.value.length) strategies.value = (await call("GET", "/v1/strategies")).items.map((each) => each.name);
}
