// The answer of the language model: each sentence with the words of the memories that it rests on.
import { html } from "../vendor.js";
import { askModel, said } from "../asking.js";
import { W } from "../words.js";
import { Fault } from "./dialog.js";
import { Text } from "./text.js";

/** @param {{shown: any, lead: (rank: number) => void}} props */
export function Answer({ shown, lead }) {
  const words = W.answer;
  const mine = said.value?.of === shown ? said.value : null;
  const ask = () => askModel(shown);
  if (!mine) return html`<p class="dim">${words.why}</p><button onClick=${ask}>${words.ask}</button>`;
  const { sentences, whole, problem } = mine;
  return html`<div class="answer-text" aria-live="polite">
    ${sentences.map((each) => html`<p><${Text} of=${each.text} /></p>
      ${each.citations.map((one) => html`<${Quote} of=${one} hit=${shown.hits.find((hit) => hit.id === one.episode)} lead=${lead} />`)}`)}
    ${problem && html`<${Fault} problem=${problem} again=${ask} />`}
    ${!whole && !problem && html`<p class="dim">${words.asking}</p>`}
    ${whole && !whole.answered && html`<p><strong>${whole.text}</strong></p><ul>${whole.reasons.map((reason) => html`<li><${Text} of=${reason} /></li>`)}</ul>`}
    ${whole && html`<p class="dim">${words.made(whole.model, whole.tokens, whole.dropped)}</p>`}</div>`;
}

const AROUND = 80;

/** A quote in its memory; positions count characters, not the halves of them. */
function Quote({ of, hit, lead }) {
  const text = [...(hit?.text ?? "")];
  const found = text.slice(of.start, of.end).join("") === of.quote;
  const before = text.slice(Math.max(0, of.start - AROUND), of.start).join("");
  const after = text.slice(of.end, of.end + AROUND).join("");
  return html`<blockquote>${hit && html`<button class="link" onClick=${() => lead(hit.rank)}><${Text} of=${W.answer.hit(hit.rank, hit.speaker)} /></button> `}
    <bdi>${found && html`<${Text} of=${before} />`}<mark class="quote"><${Text} of=${of.quote} /></mark>${found && html`<${Text} of=${after} />`}</bdi></blockquote>`;
}
