// Dialogs and messages that every screen has.
import { html, useEffect, useRef } from "../vendor.js";
import { KEYS, W } from "../words.js";
import { Text } from "./text.js";

export function KeyList({ close }) {
  const box = useRef(null);
  useEffect(() => box.current.showModal(), []);
  return html`<dialog ref=${box} onClose=${close} aria-labelledby="keys">
    <h2 id="keys">${W.keys}</h2>
    <dl>${KEYS.map(([key, does]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${does}</dd></div>`)}</dl>
    <button onClick=${() => box.current.close()}>${W.close}</button>
  </dialog>`;
}

/** A problem of the service, and a way on. @param {{problem: any, again?: () => void, gone?: string}} props */
export function Fault({ problem, again, gone = W.gone }) {
  const hint = { 403: W.forbidden, 404: gone }[problem.status];
  return html`<div class="problem" role="alert" data-status=${problem.status}>
    <h2>${problem.title}</h2><p><${Text} of=${problem.message} /></p>${hint && html`<p>${hint}</p>`}
    ${problem.requestId && html`<p class="dim">${W.request(problem.requestId)}</p>`}
    ${again && html`<button onClick=${again}>${W.tryAgain}</button>`}
  </div>`;
}

/** Nothing to show: why, and commands that change it. */
export function Empty({ why, how, commands = [] }) {
  return html`<div class="empty"><p><${Text} of=${why} /></p>${how && html`<p>${how}</p>`}
    ${commands.map((command) => html`<pre><code>${command}</code></pre>`)}</div>`;
}

export const Loading = ({ text = W.loading }) =>
  html`<div class="skeleton late" role="status"><span>${text}</span><i></i><i></i><i></i></div>`;
