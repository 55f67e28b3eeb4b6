// The drawing: a list of shapes from a scene, painted on a canvas or written as SVG.
import { nameOf, placed, spread, stateOf, ticks } from "./scene.js";
import { cut } from "./text.js";

/** @typedef {{kind: "line"|"curve"|"circle"|"text", [name: string]: any}} Shape */

export const COLOURS = ["ink", "dim", "rail", "seed", "awake", "hit", "concept", "path", "paper"];
const FONT = "system-ui, sans-serif";
const PALE = 0.35;
const MOST_LABELS = 18;

/**
 * All shapes of one or two pictures, one above the other on the same columns.
 * @param {{stories: import("./scene.js").Story[], columns: any[], width: number, height: number, steps: number[],
 *   chosen: string|null, colour: Record<string, string>}} scene
 */
export function shapesOf(scene) {
  const spreadOut = spread(scene.columns, scene.width);
  const high = scene.height / scene.stories.length;
  const panels = scene.stories.map((story, index) => {
    const place = placed(story, spreadOut, { top: index * high, height: high, width: scene.width });
    return { story, place, step: scene.steps[index], top: index * high };
  });
  const shapes = panels.flatMap((panel) => panelShapes(panel, spreadOut, scene));
  return { shapes: [...joints(panels, scene), ...shapes], panels, folded: spreadOut.folded };
}

function panelShapes(panel, spreadOut, scene) {
  const path = pathOf(panel.story, scene.chosen);
  return [...axes(panel, spreadOut, scene), ...arcShapes(panel, path, scene), ...dotShapes(panel, path, scene)];
}

/** The nodes on the path of a hit. */
function pathOf(story, chosen) {
  const hit = chosen && story.hits.find((each) => each.episode === chosen);
  return hit ? new Set([...hit.path.map((step) => step.node), hit.episode]) : null;
}

function axes({ place, story, top }, spreadOut, { colour, stories }) {
  const lines = [...spreadOut.places.values()].map(({ x, column }) => ({
    kind: "line", x1: x, y1: place.ceiling, x2: x, y2: place.ceiling + (column.length - 1) * place.unit,
    stroke: colour.rail, width: 1, alpha: column.used ? 1 : 0.5,
  }));
  const texts = ticks(spreadOut).map(({ x, label }) =>
    ({ kind: "text", x: Math.max(x, 26), y: place.floor + 18, text: label, fill: colour.dim, size: 11, align: "center" }));
  const name = { kind: "text", x: 8, y: top + 12, text: story.strategy, fill: colour.dim, size: 11, align: "left" };
  return [...lines, ...texts, ...(stories.length > 1 ? [name] : [])];
}

function arcShapes({ story, place, step }, path, { colour, chosen }) {
  const shapes = [];
  story.waves.slice(0, Math.max(0, step - 1)).forEach((wave, index) => {
    const most = Math.max(1e-9, ...wave.arcs.map((arc) => arc.energy));
    for (const arc of wave.arcs) {
      const on = path !== null && path.has(arc.tail) && path.has(arc.head);
      shapes.push(arcShape(arc, place.at, { colour, on, pale: chosen && !on, fresh: step === index + 2, most }));
    }
  });
  return shapes;
}

function arcShape(arc, at, { colour, on, pale, fresh, most }) {
  const a = at.get(arc.tail);
  const b = at.get(arc.head);
  const bend = Math.min(40, Math.hypot(b.x - a.x, b.y - a.y) / 3) + 4;
  const share = Math.sqrt(Math.max(0, arc.energy) / most);
  return {
    kind: "curve", x1: a.x, y1: a.y, x2: b.x, y2: b.y, cx: (a.x + b.x) / 2 + bend, cy: (a.y + b.y) / 2,
    stroke: on ? colour.path : colour.awake, width: on ? 3 : 0.75 + 1.75 * share,
    alpha: pale ? 0.12 : fresh || on ? 0.9 : 0.4,
  };
}

function dotShapes({ story, place, step }, path, { colour, chosen, width }) {
  const labels = labelled(story, place.at, width);
  return [...story.nodes.values()].flatMap((known) => {
    const at = place.at.get(known.node.id);
    const on = path?.has(known.node.id) ?? false;
    const state = stateOf(known, step, story.steps);
    const alpha = chosen && path && !on ? PALE : 1;
    return dot(known, at, { state, on, alpha, colour, labels });
  });
}

/** The labels of the first concepts that wake, without those that would stand on another. */
function labelled(story, at, width) {
  const concepts = [...story.nodes.values()].filter(({ node }) => node.kind !== "episode");
  const labels = new Map();
  for (const { node } of concepts.sort((a, b) => a.litAt - b.litAt)) {
    if (labels.size === MOST_LABELS) break;
    const label = labelOf(node, at.get(node.id), width);
    const free = [...labels.values()].every(({ y, from, to }) => y !== label.y || to <= label.from || label.to <= from);
    if (free) labels.set(node.id, label);
  }
  return labels;
}

/** A label beside its dot, and the room of both. */
function labelOf(node, { x, y }, width) {
  const text = cut(nameOf(node), 16);
  const long = 7 * text.length + 12;
  const left = x + long > width;
  return { text, x: x + (left ? -8 : 8), y: y + 4, align: left ? "right" : "left", from: x - (left ? long : 6), to: x + (left ? 6 : long) };
}

function dot(known, at, { state, on, alpha, colour, labels }) {
  const { node, rank } = known;
  const base = { x: at.x, y: at.y, alpha, node: node.id, state };
  if (node.kind !== "episode") return conceptShapes(base, { state, colour, label: labels.get(node.id), on });
  if (state === "cut") return cross(base, colour.dim);
  const dash = node.state === "dormant" ? [3, 2] : [];
  const stroke = on ? colour.path : state === "dark" ? colour.dim : colour.seed;
  const radius = { hit: 9, seed: 5, awake: 4, dark: 2.5 }[state];
  const fill = { hit: colour.hit, seed: colour.paper, awake: colour.awake, dark: colour.paper }[state];
  /** @type {Shape[]} */
  const shapes = [{ ...base, kind: "circle", radius, fill, stroke, dash, width: on ? 2.5 : state === "dark" ? 0.75 : 1.75 }];
  if (state === "hit") {
    shapes.push({ kind: "text", x: at.x, y: at.y + 4, text: String(rank), fill: colour.paper, size: 11, bold: true, align: "center", alpha });
  }
  return shapes;
}

function conceptShapes(base, { state, colour, label, on }) {
  const lit = state !== "dark" && state !== "cut";
  const shapes = [{
    ...base, kind: "circle", radius: lit ? 5 : 3, fill: lit ? colour.concept : colour.paper,
    stroke: on ? colour.path : colour.concept, dash: [], width: on ? 2.5 : 1.25,
  }];
  if (state === "cut") shapes.push(...cross(base, colour.dim).slice(0, 2));
  if (!label) return shapes;
  const { text, x, y, align } = label;
  return [...shapes, { kind: "text", x, y, align, text, fill: lit ? colour.ink : colour.dim, size: 12, alpha: base.alpha }];
}

/** A sign of the legend, drawn as in the picture. */
export function signShapes(sign, at, colour) {
  if (sign === "cut") return cross(at, colour.dim);
  if (sign === "column") return [{ kind: "line", x1: at.x, y1: at.y - 7, x2: at.x, y2: at.y + 7, stroke: colour.rail, width: 2 }];
  const [radius, fill, stroke] = {
    seed: [5, colour.paper, colour.seed], awake: [4, colour.awake, colour.seed], hit: [6, colour.hit, colour.seed],
    dormant: [5, colour.paper, colour.seed], concept: [5, colour.concept, colour.concept],
  }[sign];
  return [{ ...at, kind: "circle", radius, fill, stroke, dash: sign === "dormant" ? [3, 2] : [], width: 1.75 }];
}

function cross(base, stroke) {
  const r = 4;
  const line = (dy) => ({
    kind: "line", x1: base.x - r, y1: base.y - r * dy, x2: base.x + r, y2: base.y + r * dy, stroke, width: 1.5,
    alpha: base.alpha, node: base.node, state: "cut",
  });
  return [line(1), line(-1)];
}

/** Lines between the places of the hits that both pictures have. */
function joints(panels, { colour }) {
  if (panels.length < 2) return [];
  const [one, two] = panels;
  return sharedHits(one.story, two.story).map((id) => {
    const a = one.place.at.get(id);
    const b = two.place.at.get(id);
    return { kind: "line", x1: a.x, y1: a.y, x2: b.x, y2: b.y, stroke: colour.path, width: 1, dash: [4, 4], alpha: 0.5, joint: id };
  });
}

export function sharedHits(one, two) {
  const other = new Set(two.hits.map((hit) => hit.episode));
  return one.hits.map((hit) => hit.episode).filter((id) => other.has(id));
}

/** The node whose dot is nearest to a point, or null. */
export function nearest(panels, x, y, within = 14) {
  let best = null;
  for (const { place, story } of panels) {
    for (const [id, at] of place.at) {
      const distance = Math.hypot(at.x - x, at.y - y);
      if (distance <= within && (!best || distance < best.distance)) best = { id, distance, known: story.nodes.get(id), at };
    }
  }
  return best;
}

/** Paint shapes on a canvas. @param {CanvasRenderingContext2D} ctx @param {Shape[]} shapes */
export function paint(ctx, shapes) {
  for (const shape of shapes) {
    ctx.globalAlpha = shape.alpha ?? 1;
    PAINTERS[shape.kind](ctx, shape);
  }
  ctx.globalAlpha = 1;
}

const PAINTERS = {
  line(ctx, s) {
    ctx.beginPath();
    ctx.moveTo(s.x1, s.y1);
    ctx.lineTo(s.x2, s.y2);
    stroke(ctx, s);
  },
  curve(ctx, s) {
    ctx.beginPath();
    ctx.moveTo(s.x1, s.y1);
    ctx.quadraticCurveTo(s.cx, s.cy, s.x2, s.y2);
    stroke(ctx, s);
  },
  circle(ctx, s) {
    ctx.beginPath();
    ctx.arc(s.x, s.y, s.radius, 0, 2 * Math.PI);
    ctx.fillStyle = s.fill;
    ctx.fill();
    stroke(ctx, s);
  },
  text(ctx, s) {
    ctx.fillStyle = s.fill;
    ctx.font = `${s.bold ? "bold " : ""}${s.size}px ${FONT}`;
    ctx.textAlign = s.align;
    ctx.fillText(s.text, s.x, s.y);
  },
};

function stroke(ctx, s) {
  ctx.strokeStyle = s.stroke;
  ctx.lineWidth = s.width;
  ctx.setLineDash(s.dash ?? []);
  ctx.stroke();
}

const SVG = "http://www.w3.org/2000/svg";

/** The same shapes as an SVG document. @param {Shape[]} shapes */
export function svgOf(shapes, { width, height, title, about, paper }) {
  const root = element("svg", { viewBox: `0 0 ${width} ${height}`, width, height });
  root.append(written("title", {}, title), written("desc", {}, about), element("rect", { width, height, fill: paper }));
  for (const shape of shapes) root.append(SVG_OF[shape.kind](shape));
  return new XMLSerializer().serializeToString(root);
}

function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined && value !== "") made.setAttribute(key, String(value));
  return made;
}

function written(name, attributes, text) {
  const made = element(name, attributes);
  made.textContent = text;
  return made;
}

const round = (n) => Math.round(n * 10) / 10;
const looks = (s) => ({
  stroke: s.stroke, "stroke-width": s.width, "stroke-dasharray": (s.dash ?? []).join(" "), opacity: s.alpha,
  "data-node": s.node, "data-state": s.state,
});
const ANCHORS = { center: "middle", left: "start", right: "end" };
const SVG_OF = {
  line: (s) => element("line", { x1: round(s.x1), y1: round(s.y1), x2: round(s.x2), y2: round(s.y2), ...looks(s) }),
  curve: (s) => element("path", {
    d: `M${round(s.x1)} ${round(s.y1)}Q${round(s.cx)} ${round(s.cy)} ${round(s.x2)} ${round(s.y2)}`, fill: "none", ...looks(s),
  }),
  circle: (s) => element("circle", { cx: round(s.x), cy: round(s.y), r: s.radius, fill: s.fill, ...looks(s) }),
  text: (s) => written("text", {
    x: round(s.x), y: round(s.y), fill: s.fill, "font-size": s.size, "font-family": FONT, "font-weight": s.bold ? "bold" : "",
    "text-anchor": ANCHORS[s.align], opacity: s.alpha,
  }, s.text),
};
