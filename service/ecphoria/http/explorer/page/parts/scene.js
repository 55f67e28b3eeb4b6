// From a trace to places and states: x = sessions in time, y = place in the session, concepts above.
import { STATES, STREAMS, W, day } from "../words.js";
import { plain } from "./text.js";

/**
 * @typedef {{id: string, kind: string, label: string, speaker: string|null, session: string|null,
 *   ordinal: number|null, occurred_at: string|null, state: string|null}} TraceNode
 * @typedef {{node: TraceNode, seed: boolean, litAt: number, marks: {at: number, says: string, cut: boolean}[],
 *   rank: number}} Known
 * @typedef {{nodes: Map<string, Known>, waves: any[], steps: number, hits: any[], seeds: any[], strategy: string,
 *   confidence: number, judged_by: {gate: string, threshold: number, verify_below: number}}} Story
 */

const CUE = 0;
const SEEDS = 1;
const NEVER = Infinity;

/** Tell which step wakes, marks and ranks each node. @returns {Story} */
export function storyOf(trace) {
  const story = {
    nodes: new Map(), waves: trace.waves, steps: trace.waves.length + 4, hits: trace.hits, seeds: trace.seeds,
    strategy: trace.strategy, confidence: trace.confidence, judged_by: trace.judged_by,
  };
  for (const node of trace.nodes) know(story, node.id, node);
  for (const seed of trace.seeds) wake(know(story, seed.node, unnamed(seed.node, seed.kind)), SEEDS).seed = true;
  trace.waves.forEach((wave, index) => addWave(story, wave, index + 2));
  for (const hit of trace.hits) know(story, hit.episode, unnamed(hit.episode, "episode")).rank = hit.rank;
  return story;
}

function know(story, id, node) {
  const found = story.nodes.get(id);
  if (found) return found;
  const made = { node, seed: false, litAt: NEVER, marks: [], rank: 0 };
  story.nodes.set(id, made);
  return made;
}

function wake(known, step) {
  known.litAt = Math.min(known.litAt, step);
  return known;
}

function addWave(story, wave, step) {
  for (const arc of wave.arcs) {
    know(story, arc.tail, unnamed(arc.tail, "episode"));
    wake(know(story, arc.head, unnamed(arc.head, "episode")), step);
  }
  for (const mark of wave.marks) {
    const cut = /^(cut|passes nothing)/.test(mark.says);
    know(story, mark.node, unnamed(mark.node, "episode")).marks.push({ at: step, says: mark.says, cut });
  }
}

const unnamed = (id, kind) =>
  ({ id, kind, label: "", speaker: null, session: null, ordinal: null, occurred_at: null, state: null });

/** The nodes that are awake after a step. @param {Story} story @param {number} step */
export const litAfter = (story, step) => [...story.nodes.values()].filter((known) => known.litAt <= step);

/** The state of a node after a step, as one of the keys of STATES. @param {Known} known */
export function stateOf(known, step, steps) {
  if (known.rank && step >= steps - 1) return "hit";
  if (known.seed && step >= SEEDS) return "seed";
  if (known.litAt <= step) return "awake";
  return known.marks.some((mark) => mark.cut && mark.at <= step) ? "cut" : "dark";
}

/** The name of a step, for its button. */
export function shortName(story, step) {
  const short = W.picture.short;
  const last = story.steps - step;
  return [short.cue, short.seeds][step] ?? { 1: short.hits, 2: short.score }[last] ?? short.wave(step - 1);
}

/** What happens in a step, in words. @param {Story} story @param {number} step */
export function told(story, step) {
  if (step === CUE) return W.picture.cue;
  if (step === SEEDS) return toldSeeds(story.seeds);
  if (step === story.steps - 2) return W.picture.score(W.gate.weighed(story.confidence, story.judged_by));
  if (step === story.steps - 1) return W.picture.hits(story.hits.length);
  const wave = story.waves[step - 2];
  const said = W.picture.wave(step - 1, story.waves.length, wave.arcs.length, wave.arcs_left_out);
  return said + (wave.marks.length ? W.picture.marks(toldMarks(wave.marks)) : "");
}

function toldSeeds(seeds) {
  const counts = counted(seeds.map((seed) => STREAMS[seed.stream] ?? seed.stream));
  const parts = [...counts].map(([stream, n]) => W.picture.seedsBy(n, stream));
  return parts.length ? W.picture.seeds(parts.join(", ")) : W.picture.noSeeds;
}

const toldMarks = (marks) => [...counted(marks.map((mark) => mark.says))].map(([says, n]) => `${n} ${says}`).join("; ");

function counted(words) {
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** A node's name to read. @param {TraceNode} node */
export const nameOf = (node) => plain(node.label || W.picture.unnamed);

export const stateName = (known, step, steps) => STATES[stateOf(known, step, steps)];

/**
 * The columns that the pictures share: the sessions in time.
 * @param {Story[]} stories @param {{name: string, first_occurred_at: string, episodes: number}[]} sessions
 */
export function columnsOf(stories, sessions) {
  const columns = new Map(sessions.map((each) =>
    [each.name, { key: each.name, first: each.first_occurred_at, length: each.episodes, used: false }]));
  for (const { node } of stories.flatMap((story) => [...story.nodes.values()])) {
    if (node.kind === "episode") useColumn(columns, node);
  }
  return [...columns.values()].sort((a, b) => Date.parse(a.first) - Date.parse(b.first) || (a.key < b.key ? -1 : 1));
}

/** Memories without a session stand in a column of their month. */
const columnOf = (node) => node.session ?? `${W.picture.notes} ${(node.occurred_at ?? "").slice(0, 7)}`.trim();

function useColumn(columns, node) {
  const key = columnOf(node);
  const first = node.occurred_at ?? "9999-12-31";
  const found = columns.get(key) ?? { key, first, length: 1, used: false };
  found.used = true;
  found.length = Math.max(found.length, (node.ordinal ?? found.length) + 1);
  if (node.session === null && first < found.first) found.first = first;
  columns.set(key, found);
}

const FOLD_ABOVE = 60;
const FOLDED = 6;
const MARGIN = { left: 14, right: 14, top: 18, bottom: 26 };
const ROW = 22;

/** Share the width out among the columns. @returns {{places: Map<string, {x: number, width: number, column: any}>, folded: number}} */
export function spread(columns, width) {
  const fold = columns.length > FOLD_ABOVE;
  const narrow = fold ? columns.filter((column) => !column.used) : [];
  const room = width - MARGIN.left - MARGIN.right;
  const small = narrow.length ? Math.min(FOLDED, room / 2 / narrow.length) : 0;
  const wide = (room - small * narrow.length) / Math.max(1, columns.length - narrow.length);
  const places = new Map();
  let x = MARGIN.left;
  for (const column of columns) {
    const own = fold && !column.used ? small : wide;
    places.set(column.key, { x: x + own / 2, width: own, column });
    x += own;
  }
  return { places, folded: narrow.length };
}

/**
 * Give every node its place. Places depend on the trace alone, so that pictures compare.
 * @param {Story} story
 */
export function placed(story, spreadOut, { top, height, width }) {
  const concepts = [...story.nodes.values()].filter(({ node }) => node.kind !== "episode");
  const rows = concepts.length ? Math.min(3, 1 + Math.floor(concepts.length / 6)) : 0;
  const ceiling = top + MARGIN.top + rows * ROW + (rows ? 12 : 0);
  const floor = top + height - MARGIN.bottom;
  const most = Math.max(2, ...[...spreadOut.places.values()].map(({ column }) => column.length));
  const at = new Map();
  for (const { node } of story.nodes.values()) {
    if (node.kind === "episode") at.set(node.id, placeOf(node, spreadOut, ceiling, (floor - ceiling) / (most - 1)));
  }
  placeConcepts(story, concepts, at, { top: top + MARGIN.top, rows, width });
  return { at, ceiling, floor, unit: (floor - ceiling) / (most - 1) };
}

function placeOf(node, spreadOut, ceiling, unit) {
  const place = spreadOut.places.get(columnOf(node));
  const ordinal = node.ordinal ?? spread01(node.id) * (place.column.length - 1);
  const aside = node.ordinal === null ? (spread01(node.id, 8) - 0.5) * place.width * 0.6 : 0;
  return { x: place.x + aside, y: ceiling + ordinal * unit };
}

/** A number from 0 to 1 that an id always gives. */
const spread01 = (id, from = 0) => (parseInt(id.slice(from, from + 8), 16) || 0) / 0xffffffff;

function placeConcepts(story, concepts, at, { top, rows, width }) {
  const wanted = new Map(concepts.map(({ node }) => [node.id, []]));
  for (const { tail, head } of story.waves.flatMap((wave) => wave.arcs)) {
    if (wanted.has(tail) && at.has(head)) wanted.get(tail).push(at.get(head).x);
    if (wanted.has(head) && at.has(tail)) wanted.get(head).push(at.get(tail).x);
  }
  const middle = (xs) => (xs.length ? xs.reduce((sum, x) => sum + x, 0) / xs.length : width / 2);
  const order = [...wanted].map(([id, xs]) => ({ id, x: middle(xs) })).sort((a, b) => a.x - b.x || (a.id < b.id ? -1 : 1));
  order.forEach(({ id, x }, place) => {
    const even = width * ((place + 0.5) / order.length);
    at.set(id, { x: Math.min(width - 30, Math.max(30, (x + 2 * even) / 3)), y: top + (place % rows) * ROW });
  });
}

/** Labels of the time axis: the first column of a month, where there is room. */
export function ticks(spreadOut) {
  const found = [];
  let last = "";
  let free = 0;
  for (const { x, column } of spreadOut.places.values()) {
    const month = column.first.slice(0, 7);
    if (month !== last && x >= free && !column.first.startsWith("9999")) {
      found.push({ x, label: month });
      free = x + 58;
      last = month;
    }
  }
  return found;
}

export const whereOf = (node) => (node.kind === "episode" ? [node.session ?? W.picture.noSession, day(node.occurred_at)] : ["", ""]);
