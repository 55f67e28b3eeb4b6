// Memories in a list, and as bars: live ones are filled, dormant ones hatched, archived ones outlined.
import { html } from "../vendor.js";
import { day, number, STATES, W, whoSaid } from "../words.js";
import { Long, Text } from "./text.js";

export const KINDS = ["live", "dormant", "archived"];
export const allOf = (counts) => KINDS.reduce((sum, kind) => sum + counts[kind], 0);

/** One bar, as a share of the most. @param {{counts: any, most: number, tall?: boolean}} props */
export const Stack = ({ counts, most, tall = false }) => html`<span class=${tall ? "stack tall" : "stack"} aria-hidden="true">
  ${KINDS.filter((kind) => counts[kind]).map((kind) => html`<i class=${`is-${kind}`} style=${{ [tall ? "height" : "width"]: `${(100 * counts[kind]) / Math.max(1, most)}%` }}></i>`)}</span>`;

export const Kinds = ({ counts }) => html`<ul class="legend">${KINDS.map((kind) => html`<li class="sign"><span class="stack"><i class=${`is-${kind}`}></i></span>
  ${STATES[kind]} <b data-count=${kind}>${number(counts[kind])}</b></li>`)}</ul>`;

/** @param {{memory: any, remark?: unknown, children?: unknown}} props The children stand below its words. */
export function Memory({ memory, remark, children }) {
  const state = memory.state && memory.state !== "live" ? STATES[memory.state] : null;
  // Without its text, a memory has a label that names the speaker.
  const who = memory.label ? memory.speaker || memory.title : whoSaid(memory);
  return html`<li data-memory=${memory.id} class=${memory.state ?? ""}>${who && html`<b><${Text} of=${who} /></b> `}
    <time>${day(memory.occurred_at)}</time> ${state && html`<span class="remark">${state}</span>`}
    ${memory.pinned && html`<span class="remark">${W.hit.pinned}</span>`} ${remark}
    <p><${Long} of=${memory.text ?? memory.label ?? memory.summary ?? ""} /></p>${children}</li>`;
}
