// One recalled memory: its words, the parts of its score, and the path that reached it.
import { html, useState } from "../vendor.js";
import { call } from "../api.js";
import { PARTS, STREAMS, W, day, whoSaid } from "../words.js";
import { Act } from "./reading.js";
import { Long, Text } from "./text.js";

const SHOWN = 0.0005;
const nameOfPart = (name) => PARTS[name]?.[0] ?? name;

/** The parts that count, the largest first. */
const partsOf = (parts) =>
  Object.entries(parts).filter(([, value]) => Math.abs(value) >= SHOWN).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));

/** The colour of a part is the same in all hits. */
const colourOf = (name) => `c${Object.keys(PARTS).indexOf(name) % 8}`;

/** @param {{parts: Record<string, number>, most: number, grown: boolean}} props */
export function Bars({ parts, most, grown }) {
  const [told, tell] = useState("");
  const shown = partsOf(parts);
  const widthOf = (value) => `${grown ? (100 * Math.max(0, value)) / Math.max(most, 1e-9) : 0}%`;
  return html`<div class="bar" aria-hidden="true">${shown.map(([name, value], place) => html`<i class=${colourOf(name)}
      style=${{ width: widthOf(value), transitionDelay: `${place * 120}ms` }}></i>`)}</div>
    <p class="parts">${shown.map(([name, value]) => html`<button class="part" data-part=${name} data-value=${value}
      aria-expanded=${told === name} onClick=${(event) => { event.stopPropagation(); tell(told === name ? "" : name); }}>
      <i class=${colourOf(name)}></i>${nameOfPart(name)} <b>${value.toFixed(3)}</b></button>`)}</p>
    ${told && html`<p class="why">${PARTS[told]?.[1] ?? told}</p>`}`;
}

/** The path in words: what found its seed, then each edge. */
export function Path({ hit, labels }) {
  return html`<ol class="path">${hit.path.map((step, place) => html`<li>
    <span class="edge">${place ? W.hit.over(step.edge, step.energy) : W.hit.foundBy(STREAMS[step.edge] ?? step.edge, step.energy)}</span>
    ${step.node === hit.id ? html`<em>${W.hit.here}</em>` : html`<${Text} of=${labels.get(step.node) || step.label || W.hit.erased} />`}
  </li>`)}</ol>`;
}

/** @param {{hit: any, most: number, grown: boolean, chosen: boolean, choose: (id: string) => void, labels: Map<string, string>,
 *   place: number, trace: string|null}} props */
export function Hit({ hit, most, grown, chosen, choose, labels, place, trace }) {
  return html`<li class=${chosen ? "hit chosen" : "hit"} id=${`hit-${hit.rank}`} data-hit=${hit.id}
      style=${{ animationDelay: `${place * 60}ms` }}>
    <h3><span class="rank">${hit.rank}</span><b class="score">${hit.score.toFixed(3)}</b>
      <span class="who"><${Text} of=${hit.erased ? W.hit.erased : whoSaid(hit)} /></span>
      <time>${day(hit.occurred_at)}</time><${Remarks} hit=${hit} /></h3>
    ${!hit.erased && html`<p class="words"><${Long} of=${hit.text} /></p>`}
    <${Bars} parts=${hit.parts} most=${most} grown=${grown} />
    <p class="acts"><button aria-pressed=${chosen} onClick=${() => choose(hit.id)}>${chosen ? W.hit.opened : W.hit.open}</button>
      ${!hit.erased && html`<${Pin} hit=${hit} />${trace && html`<${Feedback} hit=${hit} trace=${trace} />`}`}</p>
    ${chosen && html`<${Path} hit=${hit} labels=${labels} />`}
  </li>`;
}

function Remarks({ hit }) {
  const told = [
    hit.copies > 1 && W.hit.copies(hit.copies), hit.superseded_at && W.hit.outdated(day(hit.superseded_at)),
    hit.outdatedBy && W.hit.outdatedBy(hit.outdatedBy), hit.echo && W.hit.echo, hit.state === "dormant" && W.hit.dormant,
    hit.was !== undefined && hit.was !== hit.rank && W.hit.was(hit.was),
  ].filter(Boolean);
  return told.map((text) => html`<span class="remark">${text}</span>`);
}

/** Pin a memory; it shows what the service has done, never what it may do. */
function Pin({ hit }) {
  const [pinned, changed] = useState(Boolean(hit.pinned));
  const turn = async () => {
    await call(pinned ? "DELETE" : "PUT", `/v1/episodes/${hit.id}/pin`);
    changed(hit.pinned = !pinned);
  };
  return html`<${Act} does=${turn} title=${W.hit.pinWhy} aria-pressed=${pinned}>${pinned ? W.hit.unpin : W.hit.pin}<//>`;
}

/** Say whether a hit of a recorded recall was useful: once, so that what was said stands there afterwards. */
function Feedback({ hit, trace }) {
  const [said, say] = useState(hit.useful);
  const judge = (useful) => async () => {
    await call("POST", `/v1/traces/${trace}/feedback`, { body: { [useful ? "useful" : "not_useful"]: [hit.id] } });
    say(hit.useful = useful);
  };
  const { useful, useless, judgeWhy } = W.hit;
  if (typeof said === "boolean") return html`<span class="remark" role="status">${(said ? useful : useless)[1]}</span>`;
  return /** @type {[boolean, string][]} */ ([[true, useful[0]], [false, useless[0]]]).map(([value, name]) => html`<${Act} key=${name} does=${judge(value)} title=${judgeWhy}>${name}<//>`);
}
