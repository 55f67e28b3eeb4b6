// The picture of a recall: a canvas, the buttons of its steps, and the same as a table.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor.js";
import { W } from "../words.js";
import { nearest, paint, shapesOf } from "./paint.js";
import { litAfter, shortName, stateName, told, whereOf } from "./scene.js";
import { Text } from "./text.js";
import { calm, looks, narrow, palette } from "./theme.js";

const STEP_MS = 900;

/** The step of another story in which the same happens. */
export function matching(step, one, other) {
  const fromEnd = one.steps - step;
  if (fromEnd <= 2) return other.steps - fromEnd;
  return Math.min(step, other.steps - 3);
}

/** Heights of the picture, in pixels. */
const heightOf = (stories) => (narrow.value ? 300 : 400) * (stories.length > 1 ? 1.7 : 1);

/**
 * @param {{stories: import("./scene.js").Story[], columns: any[], step: number, chosen: string|null,
 *   choose: (id: string) => void}} props
 */
export function Picture({ stories, columns, step, chosen, choose }) {
  const canvas = useRef(null);
  const drawn = useRef(null);
  const width = useWidth(canvas);
  const [over, point] = useState(null);
  const steps = stories.map((story) => matching(step, stories[0], story));
  const look = looks.value;
  useLayoutEffect(() => {
    if (width) drawn.current = draw(canvas.current, { stories, columns, steps, chosen, width, height: heightOf(stories) });
  }, [stories, columns, step, chosen, width, look, narrow.value]);
  const at = (event) => nearest(drawn.current?.panels ?? [], event.offsetX, event.offsetY);
  const lit = litAfter(stories[0], step).length;
  const label = W.picture.label(told(stories[0], step).replace(/\.$/, ""), lit, stories[0].hits.length);
  return html`<div class="picture">
    <canvas ref=${canvas} role="img" aria-label=${label} data-lit=${lit} data-step=${step}
      onPointerMove=${(event) => point(at(event))} onPointerLeave=${() => point(null)}
      onClick=${(event) => pick(at(event), point, choose)}></canvas>
    ${over && html`<${Tip} over=${over} width=${width} height=${heightOf(stories)} />`}
  </div>`;
}

function pick(found, point, choose) {
  point(found);
  if (found?.known.rank) choose(found.id);
}

/** The description of a dot, on the side with more room. */
function Tip({ over: { at: { x, y }, known: { node, marks } }, width, height }) {
  const side = x > width / 2 ? { right: `${width - x + 12}px` } : { left: `${x + 12}px` };
  const end = y > height / 2 ? { bottom: `${height - y + 12}px` } : { top: `${y + 12}px` };
  return html`<div class="tip" style=${{ ...side, ...end }}>
    <${Text} of=${node.label || W.picture.unnamed} />
    <small><${Text} of=${whereOf(node).filter(Boolean).join(", ")} /></small>
    ${marks.map((mark) => html`<small>${mark.says}</small>`)}
  </div>`;
}

function useWidth(canvas) {
  const [width, measured] = useState(0);
  useEffect(() => {
    const watch = new ResizeObserver(() => measured(canvas.current?.parentElement.clientWidth ?? 0));
    watch.observe(canvas.current.parentElement);
    return () => watch.disconnect();
  }, []);
  return width;
}

function draw(canvas, scene) {
  const ratio = devicePixelRatio || 1;
  canvas.width = scene.width * ratio;
  canvas.height = scene.height * ratio;
  canvas.style.width = `${scene.width}px`;
  canvas.style.height = `${scene.height}px`;
  const ctx = canvas.getContext("2d");
  ctx.scale(ratio, ratio);
  const made = shapesOf({ ...scene, colour: palette() });
  paint(ctx, made.shapes);
  canvas.dataset.draws = String(Number(canvas.dataset.draws ?? 0) + 1);
  canvas.dataset.columns = String(scene.columns.length);
  canvas.dataset.folded = String(made.folded);
  return made;
}

const ICONS = {
  first: "M3 2h2v12H3zM13 2v12L6 8z", back: "M11 2v12L4 8z", next: "M5 2v12l7-6z", play: "M4 2v12l10-6z",
  pause: "M3 2h4v12H3zM9 2h4v12H9z",
};

const Icon = ({ of }) => html`<svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path d=${ICONS[of]} fill="currentColor" /></svg>`;

/** The confidence on a scale from 0 to 1 with the two limits of the gate. */
export function Scale({ of: { confidence, judged_by } }) {
  const { threshold, verify_below } = judged_by;
  const label = W.gate.weighed(confidence, judged_by);
  return html`<span class="sure" role="img" aria-label=${label} title=${label} data-limits=${`${threshold} ${verify_below}`}>
    <i style=${{ width: `${100 * confidence}%` }}></i>${[threshold, verify_below].map((limit) => html`<b style=${{ left: `${100 * limit}%` }}></b>`)}</span>`;
}

/** The buttons of the steps; the words of the step are read out. */
export function Steps({ story, step, show, playing, play }) {
  usePlay(story, step, show, playing, play);
  const words = W.picture;
  const names = Array.from({ length: story.steps }, (_, place) => shortName(story, place));
  return html`<div class="steps" role="group" aria-label=${words.step}>
    <button onClick=${() => show(0)} aria-label=${words.first} title=${words.first}><${Icon} of="first" /></button>
    <button onClick=${() => show(Math.max(0, step - 1))} aria-label=${words.back} title=${words.back}><${Icon} of="back" /></button>
    <button class="play" onClick=${() => play(!playing)} aria-label=${playing ? words.pause : words.play}
      title=${playing ? words.pause : words.play}><${Icon} of=${playing ? "pause" : "play"} /></button>
    <button onClick=${() => show(Math.min(story.steps - 1, step + 1))} aria-label=${words.next} title=${words.next}><${Icon} of="next" /></button>
    <span class="names">${names.map((name, place) => html`<button class="step" aria-current=${place === step ? "step" : null}
      onClick=${() => show(place)}>${name}</button>`)}</span>
  </div>
  <p class="told" role="status">${told(story, step)}</p>
  ${step === story.steps - 2 && html`<p class="weighed"><${Scale} of=${story} /></p>`}`;
}

function usePlay(story, step, show, playing, play) {
  useEffect(() => {
    if (!playing) return undefined;
    if (step >= story.steps - 1) {
      play(false);
      return undefined;
    }
    const timer = setTimeout(() => show(step + 1), calm() ? 0 : STEP_MS);
    return () => clearTimeout(timer);
  }, [playing, step, story]);
}

export function Legend({ folded, further }) {
  return html`<p class="legend">${Object.entries(W.picture.legend).map(([sign, text]) => html`<span class="sign"><i class=${`is-${sign}`}></i>${text}</span>`)}
    ${folded > 0 && html`<span>${W.picture.folded(folded)}</span>`}${further && html`<span>${W.picture.further}</span>`}</p>`;
}

/** The picture as a table. */
export const Twin = ({ story, step }) => html`<${Table} columns=${W.picture.columns} rows=${[...story.nodes.values()]}
  row=${(known) => html`<${Row} key=${known.node.id} known=${known} step=${step} steps=${story.steps} />`} />`;

/** A table beside a picture; its rows are made only while it is open. */
export function Table({ columns, rows, row }) {
  const [open, toggled] = useState(false);
  return html`<details class="twin" onToggle=${(event) => toggled(event.currentTarget.open)}>
    <summary>${W.picture.table(rows.length)}</summary>
    ${open && html`<div class="scroll" tabindex="0"><table>
      <thead><tr>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>${rows.map(row)}</tbody></table></div>`}</details>`;
}

function Row({ known, step, steps }) {
  const { node, rank, marks } = known;
  const said = marks.filter((mark) => mark.at <= step).map((mark) => mark.says);
  return html`<tr data-node=${node.id} data-lit=${known.litAt <= step}>
    <td class="name"><${Text} of=${node.label || W.picture.unnamed} /></td><td>${node.kind}</td>
    <td><${Text} of=${whereOf(node)[0]} /></td><td>${node.ordinal ?? ""}</td>
    <td>${[stateName(known, step, steps), ...new Set(said)].join("; ")}</td><td>${rank || ""}</td></tr>`;
}
