// Traces: the recalls that were recorded.
import { html, useEffect, useState } from "../vendor.js";
import { call } from "../api.js";
import { amend, href, route } from "../route.js";
import { ago, VERDICTS, W } from "../words.js";
import { Empty, Fault, Loading } from "../parts/dialog.js";
import { Text } from "../parts/text.js";

const PAGE = 50;

export function Traces() {
  const { verdict = "" } = route.value.query;
  const [list, got] = useState(null);
  const [problem, fail] = useState(null);
  const read = async (cursor, before = []) => {
    try {
      const page = await call("GET", "/v1/traces", { query: { verdict, cursor, limit: PAGE } });
      got({ items: [...before, ...page.items], cursor: page.next_cursor });
      fail(null);
    } catch (failed) {
      if (failed.name !== "AbortError") fail(failed);
    }
  };
  useEffect(() => { got(null); read(); }, [verdict]);
  const words = W.traces;
  return html`<main class="list"><h1>${words.title}</h1><p>${words.why}</p>
    <label>${words.verdict}<select value=${verdict} onChange=${(event) => amend({ verdict: event.currentTarget.value || undefined })}>
      <option value="">${words.all}</option>
      ${Object.keys(VERDICTS).map((name) => html`<option value=${name}>${name}</option>`)}</select></label>
    ${problem && html`<${Fault} problem=${problem} again=${() => read()} />`}
    ${!list && !problem && html`<${Loading} />`}
    ${list && !list.items.length && (verdict ? html`<${Empty} why=${words.noneHere} />`
      : html`<${Empty} why=${words.none} how=${words.noneHow} commands=${['ecphoria recall "Where does Ana live now?"']} />`)}
    ${list && list.items.length > 0 && html`<${Table} items=${list.items} />`}
    ${list?.cursor && html`<button onClick=${() => read(list.cursor, list.items)}>${words.more}</button>`}
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
