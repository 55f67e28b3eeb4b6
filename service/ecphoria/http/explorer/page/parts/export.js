// The picture as a file, drawn by the same code.
import { html } from "../vendor.js";
import { call } from "../api.js";
import { VERDICTS, W, day } from "../words.js";
import { paint, shapesOf, signShapes, svgOf } from "./paint.js";
import { matching } from "./picture.js";
import { useAct } from "./reading.js";
import { plain, upTo } from "./text.js";
import { narrow, palette } from "./theme.js";

const WIDE = { width: 1000, height: 460 };
const SLIM = { width: 420, height: 400 };
const LINE = 20;
const EDGE = 14;
/** Width of a letter as a share of its size: no text is measured, so that a file is the same everywhere. */
const LETTER = { plain: 0.55, bold: 0.64 };
const MOST_LINES = 2;
const SHOWN = 3;

/** @param {{asked: any, step: number, chosen: string|null}} state */
async function scened({ asked, step, chosen }) {
  const { version } = await call("GET", "/healthz");
  const colour = palette();
  const { width, height: high } = narrow.value ? SLIM : WIDE;
  const height = high * asked.stories.length;
  const steps = asked.stories.map((story) => matching(step, asked.stories[0], story));
  const scene = { stories: asked.stories, columns: asked.columns, width, height, steps, chosen, colour };
  const [cue, about] = headOf(asked.shown, version);
  const head = written([{ text: cue, size: 15, bold: true, fill: colour.ink }, { text: about, size: 12, fill: colour.dim }], 22, width);
  const down = 18 + LINE * head.length;
  const key = legendShapes(colour, down + height + 14, width);
  const hits = asked.shown.hits.slice(0, SHOWN).map((hit) => ({ text: textOf(hit), size: 13, fill: colour.ink }));
  const end = down + height + LINE * key.lines + 6;
  const foot = written(hits, end + 16, width);
  return {
    shapes: [...head, ...shapesOf(scene).shapes.map((shape) => lowered(shape, down)), ...key.shapes, ...foot],
    width, height: end + LINE * foot.length + 8, paper: colour.paper, title: cue, about,
  };
}

/** The signs of the picture, in as many lines as they need. */
function legendShapes(colour, y, width) {
  const shapes = [];
  let [x, line] = [EDGE, 0];
  for (const [sign, text] of Object.entries(W.picture.legend)) {
    const wide = 34 + text.length * 12 * LETTER.plain;
    if (x + wide > width) [x, line] = [EDGE, line + 1];
    const at = { x: x + 6, y: y + LINE * line };
    shapes.push(...signShapes(sign, at, colour), { kind: "text", x: x + 16, y: at.y + 4, text, size: 12, align: "left", fill: colour.dim });
    x += wide;
  }
  return { shapes, lines: line + 1 };
}

/** Texts from a height on, one below the other. */
function written(texts, y, width) {
  const lines = texts.flatMap(({ text, ...look }) => {
    const room = Math.floor((width - 2 * EDGE) / (look.size * (look.bold ? LETTER.bold : LETTER.plain)));
    return broken(text, room).map((line) => ({ ...look, kind: "text", x: EDGE, align: "left", text: line }));
  });
  return lines.map((line, place) => ({ ...line, y: y + LINE * place }));
}

/** Break a text between words into a few lines; what does not fit is left out. */
function broken(text, room) {
  const lines = [""];
  for (const word of upTo(text, room * MOST_LINES).split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length <= room || !lines.at(-1)) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  const shown = lines.slice(0, MOST_LINES).map((line) => upTo(line, room));
  if (shown.join(" ").length < text.length) shown.push(`${upTo(shown.pop(), room - 1)}…`);
  return shown;
}

/** A hit as a text: rank, score, speaker, day, words. */
function textOf(hit) {
  const who = [hit.speaker || hit.title || hit.role, day(hit.occurred_at)].filter(Boolean).join(", ");
  return plain(`${hit.rank} ${hit.score.toFixed(3)} ${hit.erased ? W.hit.erased : `${who}: ${hit.text}`}`).replace(/\s+/g, " ");
}

const lowered = (shape, by) => {
  const moved = { ...shape };
  for (const name of ["y", "y1", "y2", "cy"]) if (name in moved) moved[name] += by;
  return moved;
};

function headOf(shown, version) {
  const verdict = `${VERDICTS[shown.verdict]}, ${W.ask.confidence} ${shown.confidence.toFixed(2)}, ${shown.strategy}`;
  const made = W.export.made(version, new Date().toISOString().slice(0, 10));
  return [plain(shown.cue), `${verdict} · ${made}`];
}

function save(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = Object.assign(document.createElement("a"), { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const nameOf = (state, ending) => `ecphoria-${state.asked.shown.trace.id.slice(0, 8)}.${ending}`;

async function savePng(state) {
  const scene = await scened(state);
  const canvas = Object.assign(document.createElement("canvas"), { width: 2 * scene.width, height: 2 * scene.height });
  const ctx = canvas.getContext("2d");
  ctx.scale(2, 2);
  ctx.fillStyle = scene.paper;
  ctx.fillRect(0, 0, scene.width, scene.height);
  paint(ctx, scene.shapes);
  save(await new Promise((made) => canvas.toBlob(made, "image/png")), nameOf(state, "png"));
}

async function saveSvg(state) {
  const scene = await scened(state);
  save(new Blob([svgOf(scene.shapes, scene)], { type: "image/svg+xml" }), nameOf(state, "svg"));
}

async function saveJson(state) {
  const text = JSON.stringify(state.asked.shown.trace, null, 2);
  save(new Blob([text], { type: "application/json" }), nameOf(state, "json"));
}

export function Export({ state }) {
  const words = W.export;
  const [run, busy, failed] = useAct();
  const ways = /** @type {[string, (state: any) => Promise<void>][]} */ ([[words.png, savePng], [words.svg, saveSvg], [words.json, saveJson]]);
  return html`<details class="export"><summary>${words.title}</summary>
    ${ways.map(([name, way]) => html`<button aria-busy=${busy} onClick=${() => run(() => way(state))}>${name}</button>`)}
    ${failed && html`<span class="fault" role="alert">${failed.message}</span>`}</details>`;
}
