// Traces: the recalls that were recorded.
import { html } from "../vendor.js";
import { amend, href, route } from "../route.js";
import { ago, VERDICTS, W } from "../words.js";
import { Empty } from "../parts/dialog.js";
import { Pages, usePages } from "../parts/reading.js";
import { Text } from "../parts/text.js";

const PAGE = 50;

export default function Traces() {
  const { verdict = "" } = route.value.query;
  const list = usePages("/v1/traces", { verdict, limit: PAGE });
  const words = W.traces;
  const none = html`<${Empty} why=${words.none} how=${words.noneHow} commands=${['ecphoria recall "Where does Ana live now?"']} />`;
  return html`<main class="list"><h1>${words.title}</h1><p>${words.why}</p>
    <label>${words.verdict}<select value=${verdict} onChange=${(event) => amend({ verdict: event.currentTarget.value || undefined })}>
      <option value="">${words.all}</option>
      ${Object.keys(VERDICTS).map((name) => html`<option value=${name}>${name}</option>`)}</select></label>
    <${Pages} of=${list} empty=${verdict ? words.noneHere : none}>${() => html`<${Table} items=${list.items} />`}<//>
  </main>`;
}

function Table({ items }) {
  const { tenant } = route.value.query;
  return html`<div class="scroll" tabindex="0"><table class="traces">
    <thead><tr>${W.traces.columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${items.map((item) => html`<tr key=${item.id}>
      <td><time title=${item.created_at}>${ago(item.created_at)}</time></td>
      <td class="name"><a href=${href("ask", { trace: item.id, tenant })}><${Text} of=${item.cue} /></a></td>
      <td>${item.strategy}</td><td class=${item.verdict}>${VERDICTS[item.verdict]}</td><td>${item.confidence.toFixed(2)}</td>
      <td class="name"><${Text} of=${item.first_label || (item.first ? W.hit.erased : W.traces.noHit)} /></td></tr>`)}</tbody>
  </table></div>`;
}
