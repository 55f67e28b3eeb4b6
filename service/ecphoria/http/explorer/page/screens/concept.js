// Concepts: a person, place, thing or topic, with what is around it.
import { html, useEffect, useState } from "../vendor.js";
import { call } from "../api.js";
import { amend, href, route } from "../route.js";
import { day, W } from "../words.js";
import { Clock } from "../parts/clock.js";
import { Empty, Fault, Loading } from "../parts/dialog.js";
import { Long, Text } from "../parts/text.js";

const PAGE = 60;
const AROUND = 200;
const MEMORIES = 100;
const PAUSE_MS = 200;

/** Read again whenever the inputs change; the answer to a former input is dropped. */
function useRead(read, inputs) {
  const [state, got] = useState({});
  useEffect(() => {
    const ends = new AbortController();
    got((before) => ({ ...before, problem: null }));
    read(ends.signal).then((value) => got({ value }), (problem) => {
      if (problem.name !== "AbortError") got({ problem });
    });
    return () => ends.abort();
  }, inputs);
  return state;
}

export function Concept() {
  const { id } = route.value.query;
  return html`<main class="concept"><h1>${W.concept.title}</h1><div class="halves"><${Finder} id=${id} />
    ${id ? html`<${View} key=${id} id=${id} />` : html`<p class="start">${W.concept.choose}</p>`}</div></main>`;
}

function Finder({ id }) {
  const words = W.concept;
  const { q = "", tenant } = route.value.query;
  const { value, problem } = useRead(async (signal) => {
    await new Promise((resolve) => setTimeout(resolve, q ? PAUSE_MS : 0));
    signal.throwIfAborted();
    return call("GET", "/v1/concepts", { query: { q, limit: PAGE }, signal });
  }, [q]);
  return html`<section class="finder"><label>${words.find}<input type="search" value=${q} autocomplete="off"
      onInput=${(event) => amend({ q: event.currentTarget.value || undefined })} /></label>
    ${problem && html`<${Fault} problem=${problem} />`}
    ${!value && !problem && html`<${Loading} />`}
    ${value && !value.items.length && html`<${Empty} why=${q ? words.noneHere(q) : words.none} commands=${q ? [] : ["ecphoria demo"]} />`}
    <ul>${value?.items.map((each) => html`<li key=${each.id}><a href=${href("concept", { id: each.id, q, tenant })}
      aria-current=${each.id === id ? "true" : null}><${Text} of=${each.name} /></a> <small>${words.mentions(each.mentions)}</small></li>`)}</ul>
  </section>`;
}

async function read(id, signal) {
  const [view, around] = await Promise.all([
    call("GET", `/v1/concepts/${encodeURIComponent(id)}`, { signal }),
    call("GET", "/v1/graph", { query: { around: id, hops: 1, limit: AROUND }, signal }),
  ]);
  const name = view.concept.name;
  const [facts, memories] = await Promise.all([
    call("GET", "/v1/facts", { query: { concept: name, limit: MEMORIES }, signal }),
    call("GET", "/v1/episodes", { query: { concept: name, limit: MEMORIES }, signal }),
  ]);
  return { view, around, facts: facts.items, memories: memories.items };
}

function View({ id }) {
  const { value, problem } = useRead((signal) => read(id, signal), [id]);
  if (problem) return html`<${Fault} problem=${problem} />`;
  if (!value) return html`<${Loading} />`;
  const { concept } = value.view;
  const words = W.concept;
  const { tenant } = route.value.query;
  return html`<section class="about"><h2><${Text} of=${concept.name} /></h2>
    <p>${words.mentions(concept.mentions)}, ${words.span(day(concept.first_occurred_at), day(concept.last_occurred_at))}${" · "}
      <a href=${href("ask", { cue: concept.name, tenant })}>${words.ask}</a></p>
    <${Clock} around=${value.around} />
    <${Neighbours} list=${value.view.neighbours} />
    <${Facts} facts=${value.facts} />
    <h3>${words.memories}</h3><ol class="memories">${value.memories.map((each) => html`<li key=${each.id}>
      <b><${Text} of=${each.speaker || each.title || W.hit.note} /></b> <time>${day(each.occurred_at)}</time>
      <p><${Long} of=${each.text} /></p></li>`)}</ol>
  </section>`;
}

function Neighbours({ list }) {
  const words = W.concept;
  const { tenant } = route.value.query;
  return html`<h3>${words.neighbours}</h3>
    ${!list.length && html`<p class="dim">${words.noNeighbours}</p>`}
    <ul class="neighbours">${list.map((each) => html`<li><a href=${href("concept", { id: each.id, tenant })}><${Text} of=${each.name} /></a>
      <small>${words.edges[each.edge] ?? each.edge}, ${each.weight.toFixed(2)}</small></li>`)}</ul>`;
}

function Facts({ facts }) {
  const words = W.concept;
  return html`<h3>${words.facts}</h3>${!facts.length && html`<p class="dim">${words.noFacts}</p>`}
    <ul class="facts">${facts.map((fact) => html`<li class=${fact.valid ? fact.standing : "past"} data-fact=${fact.id}>
      <${Text} of=${[fact.subject, fact.polarity === "negative" && words.not, fact.predicate, fact.object].filter(Boolean).join(" ")} />
      <small> ${fact.standing}, ${fact.intervals.map((each) => words.holds(day(each.valid_from), day(each.valid_to))).join("; ")}</small></li>`)}</ul>`;
}
