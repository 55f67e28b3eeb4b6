// The picture as a file, drawn by the same code.
import { html } from "../vendor.js";
import { VERDICTS, W } from "../words.js";
import { paint, shapesOf, svgOf } from "./paint.js";
import { matching } from "./picture.js";
import { plain } from "./text.js";
import { palette } from "./theme.js";

const WIDTH = 1000;
const HEIGHT = 460;
const HEAD = 58;
const LONGEST = 110;

/** @param {{asked: any, step: number, chosen: string|null}} state */
async function scened({ asked, step, chosen }) {
  const health = await fetch("/healthz", { credentials: "omit" }).then((answer) => answer.json());
  const colour = palette();
  const height = HEIGHT * asked.stories.length;
  const steps = asked.stories.map((story) => matching(step, asked.stories[0], story));
  const scene = { stories: asked.stories, columns: asked.columns, width: WIDTH, height, steps, chosen, colour };
  const shapes = shapesOf(scene).shapes.map(lowered);
  const head = headOf(asked.shown, health.version);
  const titles = head.map((text, line) => ({
    kind: "text", x: 14, y: 22 + line * 20, text, size: line ? 12 : 15, bold: !line, align: "left",
    fill: line ? colour.dim : colour.ink,
  }));
  return { shapes: [...titles, ...shapes], width: WIDTH, height: height + HEAD, paper: colour.paper, title: head[0], about: head[1] };
}

const lowered = (shape) => {
  const moved = { ...shape };
  for (const name of ["y", "y1", "y2", "cy"]) if (name in moved) moved[name] += HEAD;
  return moved;
};

function headOf(shown, version) {
  const cue = plain(shown.cue);
  const verdict = `${VERDICTS[shown.verdict]}, ${W.ask.confidence} ${shown.confidence.toFixed(2)}, ${shown.strategy}`;
  const made = W.export.made(version, new Date().toISOString().slice(0, 10));
  return [cue.length > LONGEST ? `${cue.slice(0, LONGEST)}…` : cue, `${verdict} · ${made}`];
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
  canvas.toBlob((blob) => save(blob, nameOf(state, "png")), "image/png");
}

async function saveSvg(state) {
  const scene = await scened(state);
  save(new Blob([svgOf(scene.shapes, scene)], { type: "image/svg+xml" }), nameOf(state, "svg"));
}

function saveJson(state) {
  const text = JSON.stringify(state.asked.shown.trace, null, 2);
  save(new Blob([text], { type: "application/json" }), nameOf(state, "json"));
}

export function Export({ state }) {
  const words = W.export;
  const ways = [[words.png, savePng], [words.svg, saveSvg], [words.json, saveJson]];
  return html`<details class="export"><summary>${words.title}</summary>
    ${ways.map(([name, way]) => html`<button onClick=${() => way(state)}>${name}</button>`)}</details>`;
}
