// A concept in the centre, related concepts on the inner ring by weight, theirs around, memories outside by time.
import { html, useLayoutEffect, useRef } from "../vendor.js";
import { href, route } from "../route.js";
import { day, STATES, W } from "../words.js";
import { paint } from "./paint.js";
import { Table } from "./picture.js";
import { nameOf } from "./scene.js";
import { cut, Text } from "./text.js";
import { looks, palette } from "./theme.js";

const SIZE = 420;
const MOST_NAMES = 16;
/** Radii of the rings, as shares of the width. */
const [NEAR, FAR, OUTSIDE] = [0.19, 0.31, 0.43];

/** Columns of the answer as rows. */
function rowsOf({ nodes }) {
  return nodes.id.map((id, place) => Object.fromEntries(Object.keys(nodes).map((name) => [name, nodes[name][place]])));
}

/** The angle of the nth of m, clockwise from the top. */
const angle = (n, m) => (2 * Math.PI * n) / Math.max(1, m) - Math.PI / 2;
const point = (radius, a) => ({ x: SIZE / 2 + radius * Math.cos(a), y: SIZE / 2 + radius * Math.sin(a) });

/** The shapes of the clock. @param {any} around @param {Record<string, string>} colour */
function clockShapes(around, colour) {
  const rows = rowsOf(around);
  const inner = rows.slice(1).filter((row) => row.kind !== "episode");
  const outer = rows.slice(1).filter((row) => row.kind === "episode");
  outer.sort((a, b) => Date.parse(a.occurred_at) - Date.parse(b.occurred_at));
  const at = new Map([[rows[0].id, point(0, 0)]]);
  for (const [hop, radius] of [[1, NEAR], [2, FAR]]) {
    const ring = inner.filter((row) => row.hop === hop);
    ring.forEach((row, n) => at.set(row.id, point(SIZE * radius, angle(n + (hop - 1) / 2, ring.length))));
  }
  outer.forEach((row, n) => at.set(row.id, point(SIZE * OUTSIDE, angle(n, outer.length))));
  return [...edges(around, rows, at, colour), ...dots(rows, at, colour), ...names(rows[0], inner, at, colour)];
}

function edges({ edges: { tail, head, weight } }, rows, at, colour) {
  return tail.map((from, n) => {
    const a = at.get(rows[from].id);
    const b = at.get(rows[head[n]].id);
    return { kind: "line", x1: a.x, y1: a.y, x2: b.x, y2: b.y, stroke: colour.rail, width: 0.75 + Math.min(2, weight[n]), alpha: 0.7 };
  });
}

function dots(rows, at, colour) {
  return rows.map((row, n) => ({
    kind: "circle", ...at.get(row.id), radius: n === 0 ? 9 : row.kind === "episode" ? 3.5 : 5, width: 1.25,
    fill: row.kind === "episode" ? colour.awake : colour.concept, stroke: row.kind === "episode" ? colour.seed : colour.concept,
    dash: row.state === "dormant" ? [3, 2] : [],
  }));
}

function names(centre, inner, at, colour) {
  return [centre, ...inner.slice(0, MOST_NAMES)].map((row, n) => {
    const text = cut(nameOf(row), 18);
    const where = n ? outward(at.get(row.id), 6 * text.length) : { x: SIZE / 2, y: SIZE / 2 - 14, align: "center" };
    return { kind: "text", ...where, text, size: n ? 11 : 14, bold: !n, fill: colour.ink };
  });
}

/** Beside a dot, away from the centre, so that the names of neighbours do not meet. */
function outward({ x, y }, long) {
  const aside = x - SIZE / 2;
  if (Math.abs(aside) < 12) return { x, y: y + (y < SIZE / 2 ? -9 : 18), align: "center" };
  if (aside < 0) return { x: Math.max(x - 9, long), y: y + 4, align: "right" };
  return { x: Math.min(x + 9, SIZE - long), y: y + 4, align: "left" };
}

/** @param {{around: any, hops: number, go: (hops: number) => void}} props */
export function Clock({ around, hops, go }) {
  const canvas = useRef(null);
  const look = looks.value;
  useLayoutEffect(() => {
    const ratio = devicePixelRatio || 1;
    canvas.current.width = canvas.current.height = SIZE * ratio;
    const ctx = canvas.current.getContext("2d");
    ctx.scale(ratio, ratio);
    paint(ctx, clockShapes(around, palette()));
  }, [around, look]);
  const memories = around.nodes.kind.filter((kind) => kind === "episode").length;
  const related = around.nodes.id.length - 1 - memories;
  return html`<figure><canvas ref=${canvas} class="clock" role="img" data-nodes=${around.nodes.id.length} aria-label=${W.concept.clock(related, memories)}></canvas>
    <figcaption>${W.concept.clock(related, memories)}${" "}
      ${around.left_out ? W.concept.strongest(around.nodes.id.length, around.nodes.id.length + around.left_out) : ""}${" "}
      <button aria-pressed=${hops === 2} onClick=${() => go(hops === 2 ? 1 : 2)}>${W.concept.further}</button></figcaption>
    <${Table} columns=${W.concept.columns} rows=${rowsOf(around)} row=${(row) => html`<${Row} key=${row.id} of=${row} />`} /></figure>`;
}

/** A node of the clock as a row; a concept leads to its own clock. */
function Row({ of: { id, kind, label, hop, occurred_at, state } }) {
  const name = html`<${Text} of=${label || W.picture.unnamed} />`;
  return html`<tr data-node=${id}><td class="name">${kind === "concept" ? html`<a href=${href("concept", { id, tenant: route.value.query.tenant })}>${name}</a>` : name}</td>
    <td>${kind}</td><td>${hop}</td><td>${day(occurred_at)}</td><td>${STATES[state] ?? ""}</td></tr>`;
}
