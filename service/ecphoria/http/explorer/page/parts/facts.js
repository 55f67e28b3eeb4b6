// Facts with their words and times, and what a person decides about them.
import { html, useState } from "../vendor.js";
import { call, mayWrite } from "../api.js";
import { instant } from "../asking.js";
import { href, route } from "../route.js";
import { ago, day, RULINGS, STANDINGS, W, whoSaid } from "../words.js";
import { Act, useAct } from "./reading.js";
import { Long, Text } from "./text.js";

const MOST_IDS = 100;

/** The memories with these ids. @param {string[]} ids @param {AbortSignal} [signal] */
export async function episodesOf(ids, signal) {
  const wanted = [...new Set(ids)];
  const found = new Map();
  for (let start = 0; start < wanted.length; start += MOST_IDS) {
    const query = wanted.slice(start, start + MOST_IDS).map((id) => `ids=${encodeURIComponent(id)}`).join("&");
    const page = await call("GET", `/v1/episodes?${query}&limit=${MOST_IDS}`, { signal });
    for (const each of page.items) found.set(each.id, each);
  }
  return found;
}

/** The better evidenced fact of each contested one, undefined for the others. */
export function rivalsOf(facts, signal) {
  return Promise.all(facts.map(async (fact) => {
    if (!fact.contested_by) return undefined;
    const history = await call("GET", `/v1/facts/${fact.id}/history`, { signal });
    return history.facts.find((each) => each.id === fact.contested_by);
  }));
}

/** A fact in words. */
export const stated = (fact) =>
  [fact.subject_name, fact.polarity === "negative" && W.concept.not, fact.predicate, fact.qualifier && `(${fact.qualifier})`, fact.object_name]
    .filter(Boolean).join(" ");

export const spans = (fact) => fact.intervals.map((each) => W.concept.holds(day(each.valid_from), day(each.valid_to))).join("; ");

/** The words that state a fact, each with its speaker. */
function Quotes({ fact, episodes }) {
  const shown = fact.episodes.map((id) => episodes.get(id)).filter(Boolean);
  if (!shown.length) return html`<p class="dim">${W.facts.noWords}</p>`;
  return shown.map((episode) => {
    const quote = fact.quotes.find((each) => each.episode === episode.id);
    // The service counts characters, a browser UTF-16 units.
    const words = quote ? [...episode.text].slice(quote.start, quote.end).join("") : episode.text;
    return html`<blockquote><${Long} of=${words} /> <footer><${Text} of=${whoSaid(episode)} />,${" "}
      <time>${day(episode.occurred_at)}</time></footer></blockquote>`;
  });
}

/** One fact with its words, its evidence and its decisions. */
export function Fact({ fact, episodes, decided, rival, axis }) {
  const words = W.facts;
  const past = fact.standing === "held" && !fact.valid;
  return html`<article class=${past ? "fact past" : `fact ${fact.standing}`} data-fact=${fact.id}>
    <h4><${Text} of=${stated(fact)} /></h4>
    <p><span class=${`remark ${fact.standing}`}>${STANDINGS[fact.standing] ?? fact.standing}</span> <small>${words.evidence(fact.evidence)}${spans(fact) && `, ${spans(fact)}`}</small></p>
    ${axis && html`<${Spans} fact=${fact} axis=${axis} />`}
    <${Quotes} fact=${fact} episodes=${episodes} />
    ${mayWrite() && html`<${Deciding} fact=${fact} rival=${rival} decided=${decided} />`}</article>`;
}

/** When it held, as bars on an axis that other facts share. */
function Spans({ fact, axis: { start, end } }) {
  const share = (at) => (100 * (at - start)) / Math.max(1, end - start);
  const bars = fact.intervals.map((each) => [share(Date.parse(each.valid_from)), share(Math.min(end, each.valid_to ? Date.parse(each.valid_to) : end))]);
  return html`<div class="spans" aria-hidden="true">${bars.map(([from, to]) => html`<i style=${{ left: `${from}%`, width: `${Math.max(1, to - from)}%` }}></i>`)}</div>`;
}

/** Retract a fact, keep it beside another, or set its time; each with a reason. */
function Deciding({ fact, rival, decided }) {
  const [ruling, choose] = useState("");
  const [run, busy, failed] = useAct();
  const words = W.facts;
  const send = (event) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const body = { ruling, why: given.get("why"), other: ruling === "keep_open" ? rival.id : null, valid_from: instant(given.get("from")), valid_to: instant(given.get("to")) };
    run(async () => {
      await call("POST", `/v1/facts/${fact.id}/decisions`, { body });
      choose("");
      decided();
    });
  };
  const ways = ["retract", rival && "keep_open", "set_interval"].filter(Boolean);
  return html`<p class="acts">${ways.map((way) => html`<button class="write" type="button" aria-pressed=${ruling === way}
      onClick=${() => choose(ruling === way ? "" : way)}>${words.ways[way]}</button>`)}</p>
    ${ruling && html`<form class="deciding" onSubmit=${send}>
      ${ruling === "set_interval" && html`<label>${words.from}<input type="date" name="from" required /></label>
        <label>${words.to}<input type="date" name="to" /></label>`}
      <label>${words.why}<input name="why" maxlength="1000" autocomplete="off" dir="auto" /></label>
      <button class="write main" disabled=${busy}>${words.confirm[ruling]}</button>
      <p class="dim">${words.tells[ruling]}</p></form>`}
    ${failed && html`<p class="fault" role="alert">${failed.message}</p>`}`;
}

/** Decisions, each with its undo. */
export function Decisions({ list, decided }) {
  const numbers = new Map(list.map((each) => [each.id, each.number]));
  const undo = async (one) => {
    await call("POST", `/v1/decisions/${one.id}/undo`, { body: {} });
    decided();
  };
  return html`<ol class="decisions">${list.map((each) => html`<li key=${each.id} data-decision=${each.id} class=${each.undone ? "past" : ""}>
    <small>${W.facts.number(each.number)}</small> <b>${RULINGS[each.ruling] ?? each.ruling}</b> <${Text} of=${subjectOf(each, numbers)} />
    <small> ${ago(each.recorded_at)}</small>${each.why && html` <q><${Text} of=${each.why} /></q>`}${" "}
    ${each.undone ? html`<span class="remark">${W.facts.undone}</span>` : html`<${Act} does=${() => undo(each)}>${W.facts.undo}<//>`}
  </li>`)}</ol>`;
}

function subjectOf(decision, numbers) {
  const { statement, other_statement: other, relation, predicate_class: kind, undoes } = decision;
  if (undoes) return numbers.has(undoes) ? W.facts.number(numbers.get(undoes)) : "";
  if (relation) return `${relation}: ${kind}`;
  return [statement ?? "", other && W.facts.beside(other), decision.valid_from && W.concept.holds(day(decision.valid_from), day(decision.valid_to))]
    .filter(Boolean).join(", ");
}

/** A link to the concept of a fact. */
export const conceptLink = (fact) =>
  fact.subject_concept && html`<a href=${href("concept", { id: fact.subject_concept, tenant: route.value.query.tenant })}><${Text} of=${fact.subject_name} /></a>`;
