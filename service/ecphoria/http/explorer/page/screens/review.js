// Review: contradictions, proposed merges, decisions, and the last consolidation.
import { html, useEffect, useState } from "../vendor.js";
import { call, mayWrite } from "../api.js";
import { amend, href, route } from "../route.js";
import { ago, day, MERGES, number, W } from "../words.js";
import { Empty, Fault, Loading } from "../parts/dialog.js";
import { Decisions, Fact, conceptLink, episodesOf, rivalsOf } from "../parts/facts.js";
import { Act, Pages, useAct, usePages, useRead } from "../parts/reading.js";
import { Text } from "../parts/text.js";

const PAGE = 20;
const POLL_MS = 1000;

export default function Review() {
  const [version, count] = useState(0);
  const [cycles, cycled] = useState(0);
  const changed = () => count((before) => before + 1);
  const ran = () => { cycled((before) => before + 1); changed(); };
  return html`<main class="review"><h1>${W.review.title}</h1>
    <${Cycle} ran=${ran} />
    <${Contradictions} version=${version} changed=${changed} />
    <${Merges} key=${cycles} changed=${changed} />
    <${Decided} version=${version} changed=${changed} /></main>`;
}

/** Read a list again after a change elsewhere; what is shown stays until then. */
function useVersion(version, again) {
  useEffect(() => { if (version) again(); }, [version]);
}

const headOf = (name, { items, more }) => html`<h2>${name}${items && html` <small class="count">${items.length}${more ? "+" : ""}</small>`}</h2>`;

function Contradictions({ version, changed }) {
  const list = usePages("/v1/facts", { standing: "contested", sort: "time", limit: PAGE }, pairs);
  useVersion(version, list.again);
  const words = W.review;
  return html`<section id="contradictions">${headOf(words.contradictions, list)}
    <${Pages} of=${list} empty=${words.noContradictions}>${() => list.items.map(({ fact, rival, episodes }) => html`<div class="pair" key=${fact.id}>
      ${conceptLink(fact) && html`<p class="dim">${words.about} ${conceptLink(fact)}</p>`}
      <div class="beside">${[rival, fact].filter(Boolean).map((each) => html`<${Fact} key=${each.id} fact=${each} episodes=${episodes}
        rival=${each === fact ? rival : fact} decided=${changed} />`)}</div></div>`)}<//></section>`;
}

/** Each contested fact with the better evidenced one, and the words of both. */
async function pairs(facts, signal) {
  const rivals = await rivalsOf(facts, signal);
  const episodes = await episodesOf([...facts, ...rivals].flatMap((each) => each?.episodes ?? []), signal);
  return facts.map((fact, place) => ({ fact, rival: rivals[place], episodes }));
}

const idOf = (merge) => `${merge.one}\t${merge.other}`;

function Merges({ changed }) {
  const { status = "proposed" } = route.value.query;
  const list = usePages("/v1/merges", { status, limit: PAGE });
  const [told, tell] = useState({});
  const [later, putOff] = useState([]);
  useEffect(() => { tell({}); putOff([]); }, [status]);
  const words = W.review;
  const rows = (list.items ?? []).map((merge) => ({ ...merge, ...told[idOf(merge)] }));
  rows.sort((a, b) => later.indexOf(idOf(a)) - later.indexOf(idOf(b)));
  const open = rows.find((merge) => merge.status === "proposed");
  const last = Object.keys(told).at(-1);
  const decide = async (merge, wanted) => {
    const answer = await call("PUT", "/v1/merges", { body: { one: merge.one, other: merge.other, status: wanted } });
    tell(({ [idOf(merge)]: _, ...others }) => ({ ...others, [idOf(merge)]: answer }));
    changed();
  };
  return html`<section id="merges">${headOf(words.merges, list)}
    <label class="short">${words.status}<select value=${status} onChange=${(event) => amend({ status: event.currentTarget.value })}>
      ${Object.entries(MERGES).map(([name, said]) => html`<option value=${name}>${said}</option>`)}</select></label>
    <${Pages} of=${list} empty=${status === "proposed" ? words.noMerges : words.noMergesHere}>${() => rows.map((merge) => html`<${Merge} key=${idOf(merge)}
      merge=${merge} first=${merge === open} last=${last === idOf(merge)} decide=${(wanted) => decide(merge, wanted)}
      later=${() => putOff([...later.filter((id) => id !== idOf(merge)), idOf(merge)])} />`)}<//></section>`;
}

function Merge({ merge, first, last, decide, later }) {
  const words = W.review;
  const key = (name) => (first ? name : undefined);
  return html`<article class=${`merge ${merge.status}`} data-merge=${merge.one}>
    <h3>${merge.sides.map((side, n) => html`${n > 0 && words.and}<a href=${href("concept", { id: side.id, tenant: route.value.query.tenant })}><${Text} of=${side.name} /></a>`)}</h3>
    <p>${words.cosine} <b>${merge.cosine.toFixed(3)}</b> · <${Text} of=${merge.reason} /></p>
    <p>${words.joins(merge.memories)}${merge.predicates.length > 0 && html` ${words.timelines} <${Text} of=${merge.predicates.join(", ")} />.`}</p>
    <div class="beside">${merge.sides.map((side) => html`<div><b><${Text} of=${side.name} /></b> <small>${words.side(side.mentions, side.facts)}</small>
      ${side.samples.map((sample) => html`<blockquote><${Text} of=${sample.text} /> <footer><${Text} of=${sample.speaker || W.hit.note} />,${" "}
        <time>${day(sample.occurred_at)}</time></footer></blockquote>`)}</div>`)}</div>
    <p class="acts" role="status">${merge.status === "proposed" ? html`
      <${Act} key="a" does=${() => decide("accepted")} shortcut=${key("a")}>${words.accept}<//>
      <${Act} key="r" does=${() => decide("rejected")} shortcut=${key("r")}>${words.reject}<//>
      ${mayWrite() && html`<button class="write" aria-keyshortcuts=${key("l")} onClick=${later}>${words.later}${first && html` <kbd>l</kbd>`}</button>`}`
      : html`<span class="remark">${MERGES[merge.status]}</span>
        <${Act} key="u" does=${() => decide("proposed")} shortcut=${last ? "u" : undefined}>${words.undo}<//>`}</p></article>`;
}

function Decided({ version, changed }) {
  const list = usePages("/v1/decisions", { limit: PAGE });
  useVersion(version, list.again);
  return html`<section id="decisions">${headOf(W.review.decisions, list)}
    <${Pages} of=${list} empty=${W.review.noDecisions}>${() => html`<${Decisions} list=${list.items} decided=${changed} />`}<//></section>`;
}

/** The last cycle, and a new one with its progress. */
function Cycle({ ran }) {
  const words = W.review;
  const [job, follow] = useState(null);
  const last = useRead((signal) => lastCycle(signal, follow), []);
  const [run, busy, failed] = useAct();
  const [dry, tryOnly] = useState(false);
  useEffect(() => {
    if (!job || job.finished_at) return undefined;
    const timer = setTimeout(() => run(async () => follow(await call("GET", `/v1/jobs/${job.id}`))), POLL_MS);
    return () => clearTimeout(timer);
  }, [job]);
  useEffect(() => { if (job?.state === "done") { last.again(); ran(); } }, [job?.state]);
  const start = () => run(async () => follow(await call("POST", "/v1/consolidation", { body: { dry_run: dry } })));
  const waits = job && !job.finished_at;
  return html`<section id="cycle"><h2>${words.cycle}</h2>
    ${last.problem && html`<${Fault} problem=${last.problem} again=${last.again} />`}
    ${!last.problem && !("value" in last) && html`<${Loading} />`}
    ${last.value === null && html`<${Empty} why=${words.noCycle} commands=${["ecphoria consolidate"]} />`}
    ${last.value && html`<${Report} report=${last.value} />`}
    ${mayWrite() && html`<p class="acts"><button class="write" disabled=${waits || (busy && !job)} onClick=${start}>${words.run}</button>
      <label class="check write"><input type="checkbox" name="dry" checked=${dry} onChange=${() => tryOnly(!dry)} />${words.dry}</label></p>`}
    ${failed && html`<p class="fault" role="alert">${failed.message}</p>`}
    ${job && html`<${Progress} job=${job} />`}</section>`;
}

/** The report of the last cycle, null before the first; a job that still runs is followed. */
async function lastCycle(signal, follow) {
  const [newest] = (await call("GET", "/v1/jobs", { query: { limit: 1 }, signal })).items;
  if (!newest) return null;
  if (!newest.finished_at) follow(newest);
  return call("GET", "/v1/consolidation", { signal }).catch((problem) => {
    if (problem.status === 404) return null;
    throw problem;
  });
}

function Progress({ job }) {
  const { place, done, total } = job.progress;
  return html`<div role="status" class="progress" data-state=${job.state}><p>${W.review.job(job.kind, job.state)} ${!job.finished_at && html`<${Text} of=${place} />`}</p>
    ${!job.finished_at && html`<progress max=${total || 1} value=${done} aria-label=${W.review.progress}></progress>`}
    ${job.fault && html`<p class="fault"><${Text} of=${job.fault.message} /></p>`}
    ${job.report && job.kind === "dry-run" && html`<${Report} report=${job.report} open />`}</div>`;
}

const countsOf = (step) => Object.entries(step.counts).filter(([, n]) => n).map(([kind, n]) => `${number(n)} ${kind}`).join(", ");

function Report({ report, open = false }) {
  const words = W.review;
  return html`<p>${words.ran(ago(report.started_at), report.seconds)}</p>
    ${report.degraded.map((what) => html`<p class="warn"><${Text} of=${what} /></p>`)}
    <details open=${open}><summary>${words.steps(report.steps.length)}</summary><div class="scroll" tabindex="0"><table class="steps-of-cycle">
      <thead><tr>${words.columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>${report.steps.map((step) => html`<tr><th scope="row">${step.name}</th><td class=${step.status}>${step.status}</td><td>${step.seconds.toFixed(2)}</td>
        <td>${countsOf(step)} ${step.reason && html`<${Text} of=${step.reason} />`}
          ${step.changes.length > 0 && html`<details><summary>${words.changes(step.changes.length)}</summary><ul>
            ${step.changes.map((each) => html`<li>${each.kind} <${Text} of=${each.detail || each.id} /></li>`)}</ul></details>`}</td></tr>`)}</tbody>
    </table></div></details>`;
}
