// Ask: a cue, what woke, and why.
import { html, useEffect } from "../vendor.js";
import { asked, draft, fieldsOf, follow, keyOf, playing, readStrategies, record, run, stop, strategies } from "../asking.js";
import { me } from "../api.js";
import { amend, go, route } from "../route.js";
import { ago, EVIDENCE, SWITCHES, VERDICTS, W } from "../words.js";
import { Answer } from "../parts/answer.js";
import { Empty, Fault, Loading } from "../parts/dialog.js";
import { Export } from "../parts/export.js";
import { Hit } from "../parts/hit.js";
import { sharedHits } from "../parts/paint.js";
import { Legend, Picture, Scale, Steps, Twin } from "../parts/picture.js";
import { calm } from "../parts/theme.js";
import { cut, element, Long, Text, pieces } from "../parts/text.js";

export function Ask() {
  const { query } = route.value;
  const key = keyOf(query);
  useEffect(() => { follow(query); }, [key]);
  useEffect(() => { readStrategies().catch(() => {}); }, []);
  const { phase, problem, of } = asked.value;
  return html`<main class="ask"><h1>${W.ask.title}</h1><${Form} />
    ${phase === "start" && html`<p class="start">${W.ask.start}</p>`}
    ${phase === "asking" && html`<${Loading} text=${W.recalling} /><button class="late" onClick=${stop}>${W.stop}</button>`}
    ${phase === "stopped" && html`<p class="start" role="status">${W.ask.stopped(asked.value.recorded)}</p>`}
    ${phase === "failed" && html`<${Fault} problem=${problem} gone=${W.ask.traceGone} again=${() => run(query, false)} />`}
    ${phase === "shown" && of === key && html`<${Shown} asked=${asked.value} />`}
  </main>`;
}

/** Recall what the form says. */
function submit(event) {
  event?.preventDefault();
  const { trace: _, was: __, ...query } = draft.value;
  if (!query.cue?.trim()) return;
  element(":focus")?.blur();  // so that the keys of the picture work
  const recorded = record.value;
  const done = run(query, recorded);
  go("ask", { ...query, tenant: route.value.query.tenant });
  // By then another question, or another screen, may be open.
  done.then(() => { if (asked.value.of === keyOf(route.value.query) && !calm()) play(asked.value.stories[0], true); });
}

const set = (name) => (event) => {
  const { type, checked, value } = event.currentTarget;
  draft.value = { ...draft.value, [name]: type === "checkbox" ? (checked ? "1" : "") : value };
};

function Form() {
  const words = W.ask;
  const { cue = "", strategy = "" } = draft.value;
  return html`<form class="cue" onSubmit=${submit} role="search">
    <label class="wide">${words.cue}<input id="cue" name="cue" value=${cue} onInput=${set("cue")} placeholder=${words.hint}
      autocomplete="off" maxlength="10000" dir="auto" /></label>
    <label>${words.strategy}<select name="strategy" value=${strategy === strategies.value[0] ? "" : strategy} onChange=${set("strategy")}>
      ${strategyOptions(strategy)}</select></label>
    <${Field} name="as_of" label=${words.asOf} type="date" />
    <button class="main">${words.recall}</button>
    <${More} />
  </form>`;
}

/** A field of the form; of an instant, a date shows the day. */
const Field = ({ name, label, type = "text", ...rest }) => html`<label>${label}<input type=${type} name=${name}
  value=${(draft.value[name] ?? "").slice(0, type === "date" ? 10 : undefined)} onInput=${set(name)} ...${rest} /></label>`;

function strategyOptions(chosen) {
  const [standard = "", ...others] = strategies.value;
  const names = chosen && !strategies.value.includes(chosen) ? [chosen, ...others] : others;
  return [html`<option value="">${W.ask.standard(standard)}</option>`,
    ...names.map((name) => html`<option value=${name}>${name}</option>`)];
}

const MORE = ["speaker", "session", "from", "before", "k", "match", "asker", "dormant", "rerank"];

function More() {
  const words = W.ask;
  // Open if the address has one of its fields, or if what one holds is refused: a closed field cannot show it.
  return html`<details class="more" open=${MORE.some((name) => route.value.query[name])}
    onInvalidCapture=${(event) => { event.currentTarget.open = true; }}><summary>${words.more}</summary><div>
    <${Field} name="speaker" label=${words.speaker} /><${Field} name="session" label=${words.session} />
    <${Field} name="from" label=${words.from} type="date" /><${Field} name="before" label=${words.before} type="date" />
    <${Field} name="k" label=${words.k} type="number" min="1" max="200" placeholder="10" />
    <label>${words.match}<select name="match" value=${draft.value.match ?? "any"} onChange=${set("match")}>
      ${Object.entries(words.matches).map(([value, name]) => html`<option value=${value}>${name}</option>`)}</select></label>
    <${Field} name="asker" label=${words.asker} />
    <label class="check"><input type="checkbox" name="rerank" checked=${draft.value.rerank === "1"} onChange=${set("rerank")} />
      ${words.rerank}</label>
    <label class="check"><input type="checkbox" name="dormant" checked=${draft.value.dormant === "1"} onChange=${set("dormant")} />
      ${words.dormant}</label>
    <label class="check"><input type="checkbox" name="record" checked=${record.value}
      onChange=${(event) => { record.value = event.currentTarget.checked; }} />${words.record}</label>
    <p class="dim">${record.value ? words.recordOn : words.recordOff}</p>
  </div></details>`;
}

/** Play the steps, or stop; after the last step they begin anew. */
function play(story, on) {
  if (on && stepOf(story) === story.steps - 1) show(0);
  playing.value = on;
}

/** The step of the address, or the last. */
function stepOf(story) {
  const given = Number(route.value.query.step ?? "");
  const last = story.steps - 1;
  return route.value.query.step === undefined || Number.isNaN(given) ? last : Math.min(last, Math.max(0, Math.round(given)));
}

export const show = (step) => amend({ step });
export const choose = (id) => amend({ hit: route.value.query.hit === id ? undefined : id });

function Shown({ asked: { shown, other, stories, columns, further, stored } }) {
  const story = stories[0];
  const step = stepOf(story);
  const chosen = stories.some((each) => each.nodes.has(route.value.query.hit)) ? route.value.query.hit : null;
  const folded = columns.length > 60 ? columns.filter((column) => !column.used).length : 0;
  return html`<${Verdict} shown=${shown} stored=${stored} />
    <div class="both">
      <section class="score" id="picture" aria-label=${W.picture.step}>
        <${Picture} stories=${stories} columns=${columns} step=${step} chosen=${chosen} choose=${choose} />
        <${Steps} story=${story} step=${step} show=${show} playing=${playing.value} play=${(on) => play(story, on)} />
        <${Legend} folded=${folded} further=${further} />
        <${Twin} story=${story} step=${step} />
        <div class="row"><${Compare} /><${Export} state=${{ asked: { shown, stories, columns }, step, chosen }} /></div>
        ${other && html`<${Ranks} one=${shown} two=${other} stories=${stories} />`}
      </section>
      <${Side} shown=${shown} story=${story} step=${step} chosen=${chosen} />
    </div>`;
}

function Verdict({ shown, stored }) {
  const words = W.ask;
  const total = shown.timings_ms.total;
  return html`<section class=${`verdict ${shown.verdict}`} aria-live="polite">
    <p class="said"><strong>${VERDICTS[shown.verdict]}</strong>
      <${Scale} of=${shown} />
      <span>${words.confidence} <b>${shown.confidence.toFixed(2)}</b></span>
      <span class="dim">${W.gate.kinds[shown.judged_by.gate]}</span>
      ${total !== undefined && html`<span class="dim">${words.ms(total)}</span>`}</p>
    <ul class="reasons">${shown.reasons.map((reason) => html`<li><${Text} of=${reason} /></li>`)}</ul>
    <button class="jump" onClick=${() => document.getElementById("picture").scrollIntoView()}>${words.toPicture}</button>
    ${shown.degraded.map((what) => html`<p class="warn">${words.degraded(what)}</p>`)}
    ${shown.second_look && html`<p class="warn">${words.second}</p>`}
    ${shown.recordedAt && html`<p class="recorded">${words.recorded(ago(shown.recordedAt))}${" "}
      <button onClick=${() => askAgain(shown)}>${words.again}</button></p>`}
    ${shown.former && html`<p class="since">${words.since(shown.former)}</p>`}
    ${stored === 0 && html`<${Empty} why=${words.noneStored} how=${words.noneStoredHow} commands=${["ecphoria demo", "ecphoria import FILE"]} />`}
    ${stored > 0 && html`<${Empty} why=${words.noneMatch(stored)} />`}
  </section>`;
}

/** Ask the question of a trace again, as it was asked, and do not record it. */
function askAgain(shown) {
  go("ask", { ...fieldsOf(shown.trace), was: shown.trace.id, strategy: shown.strategy, tenant: route.value.query.tenant });
}

function Side({ shown, story, step, chosen }) {
  const names = ["hits", "misses", "context", "gate", ...(me.value?.ask ? ["answer"] : [])];
  const tab = names.includes(route.value.query.tab) ? route.value.query.tab : "hits";
  const Body = { hits: Hits, misses: Misses, context: Context, gate: Gate, answer: Answer }[tab];
  return html`<section class="side"><div class="tabs" role="tablist" onKeyDown=${(event) => turn(event, names, tab)}>
    ${names.map((name) => html`<button role="tab" id=${`tab-${name}`} aria-selected=${tab === name} aria-controls="panel"
      tabindex=${tab === name ? 0 : -1} onClick=${() => amend({ tab: name })}>${W.tabsOfAnswer[name]}</button>`)}</div>
    <div role="tabpanel" id="panel" aria-labelledby=${`tab-${tab}`}>
      <${Body} shown=${shown} story=${story} step=${step} chosen=${chosen} lead=${(rank) => leadTo(shown, rank)} /></div></section>`;
}

/** The arrows move between the tabs, as in any list of tabs. */
function turn(event, names, tab) {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by) return;
  event.stopPropagation();
  const next = names[(names.indexOf(tab) + by + names.length) % names.length];
  amend({ tab: next });
  document.getElementById(`tab-${next}`).focus();
}

function Hits({ shown, story, step, chosen }) {
  if (!shown.hits.length) return html`<p class="start">${W.hit.noHits}</p>`;
  const labels = new Map(shown.trace.nodes.map((node) => [node.id, node.label]));
  const most = Math.max(...shown.hits.map((hit) => Math.max(hit.score, positive(hit.parts))));
  const grown = step >= story.steps - 2;
  return html`<ol class=${step === story.steps - 1 ? "hits risen" : "hits"}>${shown.hits.map((hit, place) => html`<${Hit} key=${hit.id}
    hit=${hit} most=${most} grown=${grown} chosen=${chosen === hit.id} choose=${choose} labels=${labels} place=${place} trace=${shown.recorded} />`)}</ol>`;
}

const positive = (parts) => Object.values(parts).reduce((sum, value) => sum + Math.max(0, value), 0);

function Misses({ shown }) {
  if (!shown.misses.length) return html`<p class="start">${W.misses.none}</p>`;
  return html`<p class="dim">${W.misses.why}</p><ul class="misses">${shown.misses.map((miss) => html`<li data-miss=${miss.episode}>
    <b class="score">${miss.score.toFixed(3)}</b> <${Long} of=${miss.text} /></li>`)}</ul>`;
}

/** The context as a model reads it, byte for byte; each line that shows a hit leads to it. */
function Context({ shown }) {
  if (shown.context === null) return html`<p class="start">${W.context.none}</p>`;
  return html`<p class="dim">${W.context.why(shown.context_tokens)}</p>
    <pre class="context" tabindex="0">${linesOf(shown)}</pre>`;
}

function linesOf(shown) {
  const ranks = new Set(shown.hits.map((hit) => hit.rank));
  const known = new Map(shown.references.map((each) => [each.number, each.follows ?? each.number]));
  return shown.context.split(/(?<=\n)/).map((line) => {
    const number = known.get(Number(/^\[(\d+)\]/.exec(line)?.[1]));
    if (!ranks.has(number)) return html`<bdi>${pieces(line)}</bdi>`;
    return html`<button class="line" title=${W.context.goTo(number)} onClick=${() => leadTo(shown, number)}>${pieces(line)}</button>`;
  });
}

/** Choose a hit in the list of hits. */
function leadTo(shown, rank) {
  amend({ tab: "hits", hit: shown.hits.find((hit) => hit.rank === rank).id });
  reveal(rank);
}

/** Bring a hit into view. @param {number} rank */
function reveal(rank) {
  requestAnimationFrame(() => document.getElementById(`hit-${rank}`)?.scrollIntoView({ block: "nearest" }));
}

function Gate({ shown }) {
  const figures = Object.entries(shown.evidence).filter(([name, value]) => !SWITCHES.includes(name) && value !== 0);
  return html`<p class="dim">${W.gate.why}</p>
    <p class="weighed"><${Scale} of=${shown} /> ${W.gate.weighed(shown.confidence, shown.judged_by)}</p><table class="evidence">
    <thead><tr><th scope="col">${W.gate.figure}</th><th scope="col">${W.gate.value}</th></tr></thead>
    <tbody>${figures.map(([name, value]) => html`<tr><th scope="row" title=${EVIDENCE[name]?.[1]}>${EVIDENCE[name]?.[0] ?? name}
      <small>${EVIDENCE[name]?.[1]}</small></th><td><span class=${value < 0 ? "level less" : "level"}><i style=${{ width: `${Math.min(100, 100 * Math.abs(value))}%` }}></i></span>
      <b>${value.toFixed(2)}</b></td></tr>`)}</tbody></table>`;
}

function Compare() {
  const chosen = route.value.query.compare ?? "";
  return html`<label class="compare">${W.compare.with}<select value=${chosen}
    onChange=${(event) => amend({ compare: event.currentTarget.value || undefined })}>
    <option value="">${W.compare.none}</option>
    ${strategies.value.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>`;
}

function Ranks({ one, two, stories }) {
  const ranks = new Map(two.hits.map((hit) => [hit.id, hit.rank]));
  const texts = [...one.hits, ...two.hits.filter((hit) => !one.hits.some((each) => each.id === hit.id))];
  const first = new Map(one.hits.map((hit) => [hit.id, hit.rank]));
  return html`<section class="ranks"><h2>${W.compare.title}</h2>
    <p>${W.compare.joined(sharedHits(...stories).length)}</p>
    <table><thead><tr><th scope="col">${W.compare.rank(one.strategy)}</th><th scope="col">${W.compare.rank(two.strategy)}</th><th scope="col">${W.tabsOfAnswer.hits}</th></tr></thead>
    <tbody>${texts.map((hit) => html`<tr><td>${first.get(hit.id) ?? "–"}</td><td>${ranks.get(hit.id) ?? "–"}</td>
      <td class="name"><${Text} of=${cut(hit.text, 120)} /></td></tr>`)}</tbody></table></section>`;
}

/** The keys of this screen. @param {KeyboardEvent} event @returns {boolean} */
export function askKey(event) {
  const { phase, stories, shown } = asked.value;
  if (event.key === "Escape" && phase === "asking") return done(stop);
  if (phase !== "shown") return false;
  const step = stepOf(stories[0]);
  const at = shown.hits.findIndex((hit) => hit.id === route.value.query.hit);
  const to = (place) => {
    const hit = shown.hits[Math.min(shown.hits.length - 1, Math.max(0, place))];
    if (hit) { amend({ hit: hit.id, tab: undefined }); reveal(hit.rank); }
  };
  const acts = {
    " ": () => play(stories[0], !playing.value),
    ArrowLeft: () => show(Math.max(0, step - 1)),
    ArrowRight: () => show(Math.min(stories[0].steps - 1, step + 1)),
    j: () => to(at + 1),
    k: () => to(at - 1),
    Enter: () => choose(shown.hits[Math.max(0, at)]?.id),
    e: () => { element(".export").setAttribute("open", ""); element(".export button").focus(); },
  };
  return acts[event.key] ? done(acts[event.key]) : false;
}

function done(act) {
  act();
  return true;
}

