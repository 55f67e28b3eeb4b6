// Concepts: a person, place, thing or topic, with what is around it.
import { html } from "../vendor.js";
import { call } from "../api.js";
import { amend, href, route } from "../route.js";
import { day, now, W } from "../words.js";
import { Clock } from "../parts/clock.js";
import { Empty, Fault, Loading } from "../parts/dialog.js";
import { Decisions, Fact, episodesOf, rivalsOf } from "../parts/facts.js";
import { Memory } from "../parts/memories.js";
import { Pages, usePages, useRead } from "../parts/reading.js";
import { Text } from "../parts/text.js";

const PAGE = 60;
const AROUND = 200;
const MEMORIES = 50;
const FACTS = 1000;
const DECISIONS = 1000;
const PAUSE_MS = 200;

export default function Concept() {
  const { id } = route.value.query;
  return html`<main class="concept"><h1>${W.concept.title}</h1><div class="halves"><${Finder} id=${id} />
    ${id ? html`<${View} key=${id} id=${id} />` : html`<p class="start">${W.concept.choose}</p>`}</div></main>`;
}

function Finder({ id }) {
  const words = W.concept;
  const { q = "", tenant } = route.value.query;
  const { value, problem, again } = useRead(async (signal) => {
    await new Promise((resolve) => setTimeout(resolve, q ? PAUSE_MS : 0));
    signal.throwIfAborted();
    return call("GET", "/v1/concepts", { query: { q, limit: PAGE }, signal });
  }, [q]);
  return html`<section class="finder"><label>${words.find}<input type="search" value=${q} autocomplete="off"
      onInput=${(event) => amend({ q: event.currentTarget.value || undefined })} /></label>
    ${problem && html`<${Fault} problem=${problem} again=${again} />`}
    ${!value && !problem && html`<${Loading} />`}
    ${value && !value.items.length && html`<${Empty} why=${q ? words.noneHere(q) : words.none} commands=${q ? [] : ["ecphoria demo"]} />`}
    <ul>${value?.items.map((each) => html`<li key=${each.id}><a href=${href("concept", { id: each.id, q, tenant })}
      aria-current=${each.id === id ? "true" : null}><${Text} of=${each.name} /></a> <small>${words.mentions(each.mentions)}</small></li>`)}</ul>
  </section>`;
}

async function read(id, signal) {
  const view = await call("GET", `/v1/concepts/${encodeURIComponent(id)}`, { signal });
  const name = view.concept.name;
  const [facts, decided] = await Promise.all([
    call("GET", "/v1/facts", { query: { concept: name, sort: "time", limit: FACTS }, signal }),
    call("GET", "/v1/decisions", { query: { limit: DECISIONS }, signal }),
  ]);
  const rivals = (await rivalsOf(facts.items, signal)).filter(Boolean);
  const all = [...new Map([...rivals, ...facts.items].map((fact) => [fact.id, fact])).values()];
  const spoken = await episodesOf(all.flatMap((fact) => fact.episodes), signal);
  return { view, facts: all, further: facts.next_cursor, spoken, decisions: about(all, decided.items) };
}

/** The decisions about facts, and what undid them. */
function about(facts, decisions) {
  const ids = new Set(facts.map((fact) => fact.id));
  for (const each of [...decisions].reverse()) if (ids.has(each.fact) || ids.has(each.undoes)) ids.add(each.id);
  return decisions.filter((each) => ids.has(each.id));
}

function View({ id }) {
  const { value, problem, again } = useRead((signal) => read(id, signal), [id]);
  if (problem) return html`<${Fault} problem=${problem} again=${again} />`;
  if (!value) return html`<${Loading} />`;
  const { concept } = value.view;
  const words = W.concept;
  const { tenant } = route.value.query;
  return html`<section class="about"><h2><${Text} of=${concept.name} /></h2>
    <p>${words.mentions(concept.mentions)}, ${words.span(day(concept.first_occurred_at), day(concept.last_occurred_at))}${" · "}
      <a href=${href("ask", { cue: concept.name, tenant })}>${words.ask}</a></p>
    <${Around} id=${id} />
    <${Neighbours} list=${value.view.neighbours} />
    <${Facts} of=${value} changed=${again} />
    <${Memories} name=${concept.name} />
  </section>`;
}

function Memories({ name }) {
  const list = usePages("/v1/episodes", { concept: name, limit: MEMORIES });
  return html`<h3>${W.concept.memories}</h3>
    <${Pages} of=${list} empty=${W.concept.noMemories}>${() => html`<ol class="memories">${list.items.map((each) => html`<${Memory} key=${each.id} memory=${each} />`)}</ol>`}<//>`;
}

/** What is around it, one edge away, or two. */
function Around({ id }) {
  const hops = route.value.query.hops === "2" ? 2 : 1;
  const { value, problem, again } = useRead((signal) => call("GET", "/v1/graph", { query: { around: id, hops, limit: AROUND }, signal }), [id, hops]);
  if (problem) return html`<${Fault} problem=${problem} again=${again} />`;
  if (!value) return html`<${Loading} />`;
  return html`<${Clock} around=${value} hops=${hops} go=${(wanted) => amend({ hops: wanted === 2 ? 2 : undefined })} />`;
}

function Neighbours({ list }) {
  const words = W.concept;
  const { tenant } = route.value.query;
  return html`<h3>${words.neighbours}</h3>
    ${!list.length && html`<p class="dim">${words.noNeighbours}</p>`}
    <ul class="neighbours">${list.map((each) => html`<li><a href=${href("concept", { id: each.id, tenant })}><${Text} of=${each.name} /></a>${" "}
      <small>${words.edges[each.edge] ?? each.edge}, ${each.weight.toFixed(2)}</small></li>`)}</ul>`;
}

/** Facts by predicate, on one axis of time; those that contradict each other stand side by side. */
function Facts({ of: { facts, further, spoken, decisions }, changed }) {
  const words = W.concept;
  const groups = new Map();
  for (const fact of facts) groups.set(keyOf(fact), [...(groups.get(keyOf(fact)) ?? []), fact]);
  const starts = facts.flatMap((fact) => fact.intervals.map((each) => Date.parse(each.valid_from)));
  const axis = { start: Math.min(...starts), end: Math.max(now(), ...starts) };
  return html`<h3>${words.facts}</h3>${!facts.length && html`<p class="dim">${words.noFacts}</p>`}
    ${further && html`<p class="dim">${W.timeline.first(FACTS)}</p>`}
    ${[...groups].map(([key, group]) => html`<div class="beside facts" key=${key}>${group.sort(byTime).map((fact) => html`<${Fact} key=${fact.id}
      fact=${fact} episodes=${spoken} rival=${rivalOf(fact, group)} axis=${axis} decided=${changed} />`)}</div>`)}
    ${decisions.length > 0 && html`<h3>${W.review.decisions}</h3><${Decisions} list=${decisions} decided=${changed} />`}`;
}

const keyOf = (fact) => [fact.subject, fact.predicate, fact.qualifier].join("\t");
const startOf = (fact) => (fact.intervals.length ? Date.parse(fact.intervals[0].valid_from) : Infinity);
const byTime = (a, b) => (startOf(a) < startOf(b) ? -1 : startOf(a) > startOf(b) ? 1 : 0);
const rivalOf = (fact, group) => group.find((each) => each.id === fact.contested_by || each.contested_by === fact.id);
