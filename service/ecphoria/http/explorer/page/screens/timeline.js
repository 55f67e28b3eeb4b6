// Timeline: how many memories, when; the turns of a range; and what was known at a time.
import { html, useState } from "../vendor.js";
import { call } from "../api.js";
import { amend, go, href, route } from "../route.js";
import { day, now, STANDINGS, W } from "../words.js";
import { Empty, Fault, Loading } from "../parts/dialog.js";
import { stated, spans } from "../parts/facts.js";
import { allOf, KINDS, Kinds, Memory, Stack } from "../parts/memories.js";
import { Pages, usePages, useRead } from "../parts/reading.js";
import { cut, plain, Text } from "../parts/text.js";

const BUCKETS = 1000;
const TURNS = 50;
const FACTS = 1000;
const PLACES = 1000;
const DAY_MS = 86_400_000;

export default function Timeline() {
  const { by = "month", speaker = "" } = route.value.query;
  const words = W.timeline;
  const list = usePages("/v1/timeline", { by, speaker, limit: BUCKETS });
  const none = html`<${Empty} why=${speaker ? words.noneOf(speaker) : words.none} how=${speaker ? null : W.ask.noneStoredHow}
    commands=${speaker ? [] : ["ecphoria demo", "ecphoria import FILE"]} />`;
  return html`<main class="timeline"><h1>${words.title}</h1><${Choice} by=${by} speaker=${speaker} />
    <${Pages} of=${list} empty=${none}>${() => html`<${Bars} buckets=${list.items} by=${by} /><${Turns} list=${list} by=${by} speaker=${speaker} />`}<//>
    <${Known} /></main>`;
}

function Choice({ by, speaker }) {
  const words = W.timeline;
  return html`<div class="cue"><label>${words.by}<select name="by" value=${by} onChange=${(event) => amend({ by: event.currentTarget.value, bucket: undefined })}>
      ${Object.entries(words.units).map(([value, name]) => html`<option value=${value}>${name}</option>`)}</select></label>
    <label>${W.ask.speaker}<input name="speaker" value=${speaker} autocomplete="off" dir="auto"
      onChange=${(event) => amend({ speaker: event.currentTarget.value || undefined, bucket: undefined })} /></label></div>`;
}

/** The name of a bucket in the address; the one without a session is a blank, which no session is called. */
const nameOf = (bucket) => bucket.bucket ?? " ";
const labelOf = (bucket) => bucket.bucket ?? W.picture.noSession;

function Bars({ buckets, by }) {
  const { bucket: chosen, ...query } = route.value.query;
  const most = Math.max(...buckets.map(allOf));
  const total = Object.fromEntries(KINDS.map((kind) => [kind, buckets.reduce((sum, each) => sum + each[kind], 0)]));
  return html`<figure><div class="strip" tabindex="0" role="group" aria-label=${W.timeline.strip} onKeyDown=${(event) => step(event, buckets, chosen)}>
    ${buckets.map((each) => html`<a key=${nameOf(each)} href=${href("timeline", { ...query, bucket: nameOf(each) })} data-bucket=${nameOf(each)}
      data-count=${allOf(each)} aria-current=${chosen === nameOf(each) ? "true" : null} title=${plain(labelOf(each))}
      aria-label=${W.timeline.bar(plain(labelOf(each)), ...KINDS.map((kind) => each[kind]))}><${Stack} counts=${each} most=${most} tall />
      <small><${Text} of=${by === "session" ? cut(labelOf(each), 12) : labelOf(each)} /></small></a>`)}</div>
    <figcaption>${W.timeline.most(most)}<${Kinds} counts=${total} /></figcaption></figure>`;
}

/** The arrows choose the bar before or after the one that has the focus, or that is chosen. */
function step(event, buckets, chosen) {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by) return;
  event.preventDefault();
  const from = event.target.closest("a")?.dataset.bucket ?? chosen;
  const at = buckets.findIndex((each) => nameOf(each) === from);
  const next = Math.min(buckets.length - 1, Math.max(0, at + by));
  amend({ bucket: nameOf(buckets[next]) });
  event.currentTarget.children[next].focus();
}

/** The turns of the chosen bucket. Days are those of the offset of a turn, so each is looked at. */
function Turns({ list, by, speaker }) {
  const words = W.timeline;
  const chosen = route.value.query.bucket;
  const bucket = list.items.find((each) => nameOf(each) === chosen);
  if (!bucket) return html`<p class="start">${!chosen ? words.choose : list.more ? words.notYet : words.noBucket}</p>`;
  return html`<${TurnsOf} key=${`${by} ${chosen}`} bucket=${bucket} by=${by} speaker=${speaker} />`;
}

function TurnsOf({ bucket, by, speaker }) {
  const after = new Date(Date.parse(bucket.last_occurred_at) + 1).toISOString();
  const session = by === "session" ? bucket.bucket : null;
  const query = session ? { session } : { occurred_from: bucket.first_occurred_at, occurred_before: after };
  const inside = by === "session" ? (each) => (each.session ?? null) === (bucket.bucket ?? null) : (each) => each.occurred_at.startsWith(bucket.bucket);
  const list = usePages("/v1/episodes", { ...query, speaker, limit: TURNS }, async (items) => items.filter(inside));
  return html`<section class="turns"><h2><${Text} of=${labelOf(bucket)} /> <small class="count">${W.concept.mentions(allOf(bucket))}</small></h2>
    <${Search} among=${{ session, speaker, from: query.occurred_from, before: query.occurred_before }} />
    <${Pages} of=${list} empty=${W.timeline.noBucket}>${() => html`<ol class="memories">${list.items.map((each) => html`<${Memory} key=${each.id} memory=${each} />`)}</ol>`}<//></section>`;
}

/** All words of a search among the turns: a recall that leaves no trace. */
function Search({ among }) {
  const [cue, set] = useState("");
  const search = (event) => {
    event.preventDefault();
    if (cue.trim()) go("ask", { cue, match: "all", ...among, tenant: route.value.query.tenant });
  };
  return html`<form class="cue" role="search" onSubmit=${search}><label class="wide">${W.timeline.search}<input type="search" value=${cue} dir="auto"
    onInput=${(event) => set(event.currentTarget.value)} autocomplete="off" /></label><button>${W.ask.recall}</button></form>`;
}

const factsAt = (times, signal) => call("GET", "/v1/facts", { query: { sort: "time", limit: FACTS, ...times }, signal });

/** What was known at a time of what held at a time. */
function Known() {
  const words = W.timeline;
  const { as_of: asOf, known_at: knownAt } = route.value.query;
  const all = useRead((signal) => Promise.all([
    factsAt({}, signal), call("GET", "/v1/stats", { signal }),
  ]), []);
  const then = useRead(async (signal) => {
    const times = { as_of: asOf, known_at: knownAt };
    return { times, items: asOf || knownAt ? (await factsAt(times, signal)).items : null };
  }, [asOf, knownAt]);
  const problem = all.problem ?? then.problem;
  if (problem) return html`<${Fault} problem=${problem} again=${all.problem ? all.again : then.again} />`;
  if (!all.value || !then.value) return html`<${Loading} />`;
  const [{ items, next_cursor: further }, stats] = all.value;
  const start = stats.first_occurred_at && Date.parse(stats.first_occurred_at);
  const { times } = then.value;
  const views = new Map((then.value.items ?? items).map((fact) => [fact.id, fact]));
  const known = items.filter((fact) => views.has(fact.id)).length;
  return html`<section class="known" data-as-of=${times.as_of ?? ""} data-known-at=${times.known_at ?? ""}><h2>${words.known}</h2>${!items.length ? html`<${Empty} why=${words.noFacts} />` : html`
    <p>${words.knownWhy}</p><div class="sliders"><${Handle} name="as_of" label=${words.happened} start=${start} />
      <${Handle} name="known_at" label=${words.knownBy} start=${start} /></div>
    <p role="status">${words.told(known, items.length)}${further ? words.first(items.length) : ""}</p>
    <ul class="facts">${items.map((fact) => html`<${Standing} key=${fact.id} fact=${views.get(fact.id) ?? fact} state=${stateOf(views.get(fact.id), times.as_of)} />`)}</ul>`}</section>`;
}

/** Holds, held, will hold, was not known, or never held. */
function stateOf(view, asOf) {
  if (!view) return "unknown";
  if (view.valid) return "holds";
  const then = asOf ? Date.parse(asOf) : now();
  return view.intervals.some((each) => Date.parse(each.valid_from) > then) ? "later" : view.intervals.length ? "over" : "never";
}

function Standing({ fact, state }) {
  const shown = html`<${Text} of=${stated(fact)} />`;
  return html`<li class=${`then ${state}`} data-fact=${fact.id} data-state=${state}>${state === "over" ? html`<s>${shown}</s>` : shown}
    <small> ${W.timeline.states[state] ?? STANDINGS[fact.standing]}${state !== "unknown" && spans(fact) && `, ${spans(fact)}`}</small></li>`;
}

/** A slider from the first memory to now. */
function Handle({ name, label, start }) {
  const end = Math.max(now(), start + DAY_MS);  // all memories may be of tomorrow
  const given = route.value.query[name];
  const place = given ? Math.round((PLACES * (Date.parse(given) - start)) / (end - start)) : PLACES;
  const move = (event) => {
    const at = Number(event.currentTarget.value);
    amend({ [name]: at >= PLACES ? undefined : new Date(start + (at / PLACES) * (end - start)).toISOString() });
  };
  const said = given ? day(given) : W.timeline.now;
  return html`<label>${label} <b>${said}</b><input type="range" name=${name} min="0" max=${PLACES} value=${place} aria-valuetext=${said} onChange=${move} /></label>`;
}
