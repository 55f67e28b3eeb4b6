// Forgetting: what is live, dormant, archived and pinned, and how to erase.
import { html, useEffect, useRef, useState } from "../vendor.js";
import { call, mayWrite, me } from "../api.js";
import { amend, href, route } from "../route.js";
import { instant } from "../asking.js";
import { ago, day, W } from "../words.js";
import { Empty, Fault, Loading } from "../parts/dialog.js";
import { Kinds, Memory, Stack } from "../parts/memories.js";
import { Act, Pages, useAct, usePages, useRead } from "../parts/reading.js";

const PAGE = 50;
const ERASED_AT_ONCE = 100;

const TABS = { live: Live, dormant: Dormant, archived: Archived, pinned: Pinned, expiring: Expiring, erase: Erase };

export default function Forgetting() {
  const words = W.forgetting;
  const stats = useRead((signal) => call("GET", "/v1/stats", { signal }), []);
  const { query } = route.value;
  const tab = Object.hasOwn(TABS, query.list) ? query.list : "live";
  const List = TABS[tab];
  const names = Object.keys(TABS).filter((name) => name !== "erase" || mayWrite());
  return html`<main class="forgetting"><h1>${words.title}</h1>
    ${stats.problem && html`<${Fault} problem=${stats.problem} again=${stats.again} />`}
    ${stats.value ? html`<${Counts} stats=${stats.value} />` : !stats.problem && html`<${Loading} />`}
    <nav class="lists" aria-label=${words.lists}>${names.map((name) => html`<a href=${href("forgetting", { ...query, list: name, ids: undefined })}
      aria-current=${tab === name ? "page" : null} class=${name === "erase" ? "write" : ""}>${words.tabs[name]}</a>`)}</nav>
    <section id="list" key=${tab}><p class="dim">${words.why[tab]}</p><${List} changed=${stats.again} /></section></main>`;
}

function Counts({ stats }) {
  const { episodes, dormant, archived } = stats;
  const counts = { live: episodes - dormant - archived, dormant, archived };
  return html`<${Stack} counts=${counts} most=${episodes} /><${Kinds} counts=${counts} />`;
}

/** Memories to choose, and what can be done to the chosen ones; shift chooses a range. */
function Chosen({ list, items = list.items, remarkOf = (_) => null, empty, acts, changed }) {
  const [chosen, choose] = useState([]);
  const [last, note] = useState(0);
  const there = chosen.filter((id) => items?.some((each) => each.id === id));
  const pick = (place, event) => {
    const range = event.shiftKey ? items.slice(Math.min(last, place), Math.max(last, place) + 1) : [items[place]];
    const ids = range.map((each) => each.id);
    choose(event.currentTarget.checked ? [...new Set([...there, ...ids])] : there.filter((id) => !ids.includes(id)));
    note(place);
  };
  const act = async (does) => {
    try {
      await does(there);
      choose([]);
    } finally {  // a part may be done
      list.again();
      changed();
    }
  };
  return html`<${Pages} of=${{ ...list, items }} empty=${empty}>${() => html`
    ${mayWrite() && html`<p class="acts" role="status"><span>${W.forgetting.chosen(there.length)}</span>
      ${acts.map(([name, does]) => html`<${Act} key=${name} does=${() => act(does)} disabled=${!there.length}>${name}<//>`)}
      <button class="write" disabled=${!there.length} onClick=${() => amend({ list: "erase", ids: there.join() })}>${W.forgetting.doom}</button></p>`}
    <ol class="memories">${items.map((each, place) => html`<${Memory} key=${each.id} memory=${each} remark=${html`${remarkOf(each)}
      ${mayWrite() && html`<label class="check write"><input type="checkbox" checked=${there.includes(each.id)} onClick=${(event) => pick(place, event)} />
        ${W.forgetting.choose}</label>`}`} />`)}</ol>`}<//>`;
}

const post = (path) => (ids) => call("POST", path, { body: { ids } });
const pinning = (method) => async (ids) => {
  for (const id of ids) await call(method, `/v1/episodes/${id}/pin`);
};
const restore = async (ids) => {
  const { damaged } = await post("/v1/archive/restore")(ids);
  if (damaged.length) throw new Error(W.forgetting.damaged(damaged.length));
};
const keep = async (ids) => {
  for (const id of ids) await call("PATCH", `/v1/episodes/${id}`, { body: { expires_at: null } });
};
const sleep = [W.forgetting.sleep, post("/v1/dormancy/sleep")];
const pin = [W.hit.pin, pinning("PUT")];

/** A preview of the policy, as it is or as it would be; and all live memories. */
function Live({ changed }) {
  const words = W.forgetting;
  const { mode = "", budget = "", quiet = "" } = route.value.query;
  const policy = { mode: mode || null, budget: budget ? Number(budget) : null, quiet_days: quiet ? Number(quiet) : null };
  const of = JSON.stringify(policy);
  const next = useRead(async (signal) => ({ of, ...await call("POST", "/v1/dormancy/preview", { body: { ...policy, limit: PAGE }, signal, again: true }) }), [of]);
  const preview = next.value?.of === of ? next.value : undefined;  // one of another policy is not shown
  const all = usePages("/v1/episodes", { state: "live", order: "newest", limit: PAGE });
  const list = { items: preview?.items, problem: next.problem, again: () => { next.again(); all.again(); } };
  /** The policy that was shown becomes the tenant's own. */
  const apply = async () => {
    const dormancy = Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== null));
    await call("PATCH", "/v1/settings", { body: { dormancy } });
    amend({ mode: undefined, budget: undefined, quiet: undefined });
    list.again();
  };
  const none = html`<${Empty} why=${words.none.live} how=${W.ask.noneStoredHow} commands=${["ecphoria demo", "ecphoria import FILE"]} />`;
  return html`<${Policy} mode=${mode} budget=${budget} quiet=${quiet} apply=${apply} />
    <h2>${words.next} ${preview && html`<small class="count">${words.of(preview.dormant, preview.live)}</small>`}</h2>
    <${Chosen} list=${list} empty=${words.noNext} remarkOf=${(one) => html`<span class="remark">${one.reason}</span>`} acts=${[sleep, pin]} changed=${changed} />
    <h2>${words.allLive}</h2><${Chosen} list=${{ ...all, again: list.again }} empty=${none} acts=${[sleep, pin]} changed=${changed} />`;
}

function Policy({ mode, budget, quiet, apply }) {
  const words = W.forgetting;
  const set = (name) => (event) => amend({ [name]: event.currentTarget.value || undefined });
  return html`<div class="cue"><label>${words.mode}<select name="mode" value=${mode} onChange=${set("mode")}>
      <option value="">${words.ownMode}</option>${Object.entries(words.modes).map(([name, said]) => html`<option value=${name}>${said}</option>`)}</select></label>
    <label>${words.budget}<input type="number" name="budget" min="1" value=${budget} onChange=${set("budget")} /></label>
    <label>${words.quiet}<input type="number" name="quiet" min="0" max="36500" value=${quiet} onChange=${set("quiet")} /></label>
    ${me.value.scopes.includes("admin") && html`<${Act} does=${apply} disabled=${!(mode || budget || quiet)} title=${words.applyWhy}>${words.apply}<//>`}</div>`;
}

function Dormant({ changed }) {
  const words = W.forgetting;
  const list = usePages("/v1/dormancy", { limit: PAGE });
  const since = (one) => html`<span class="remark">${words.since(ago(one.dormant_at), one.reason)}</span>`;
  return html`<${Chosen} list=${list} empty=${words.none.dormant} remarkOf=${since} acts=${[[words.wake, post("/v1/dormancy/wake")]]} changed=${changed} />`;
}

function Archived({ changed }) {
  const words = W.forgetting;
  const list = usePages("/v1/archive", { limit: PAGE });
  const since = (one) => html`<span class="remark">${words.since(ago(one.archived_at), one.reason)}</span>`;
  return html`<${Chosen} list=${list} empty=${words.none.archived} remarkOf=${since} acts=${[[words.restore, restore]]} changed=${changed} />`;
}

function Pinned({ changed }) {
  const list = usePages("/v1/episodes", { pinned: true, limit: PAGE });
  return html`<${Chosen} list=${list} empty=${W.forgetting.none.pinned} acts=${[[W.forgetting.unpin, pinning("DELETE")]]} changed=${changed} />`;
}

function Expiring({ changed }) {
  const words = W.forgetting;
  const list = usePages("/v1/expiring", { limit: PAGE });
  const end = (one) => html`<span class="remark">${words.expires(day(one.expires_at))}</span>`;
  return html`<${Chosen} list=${list} empty=${words.none.expiring} remarkOf=${end} acts=${[[words.keep, keep]]} changed=${changed} />`;
}

/** Filters or chosen memories, then what would go, then the number typed, then what went. */
function Erase({ changed }) {
  const words = W.forgetting;
  const { ids: chosen } = route.value.query;
  const ids = chosen?.split(",") ?? [];
  const [asked, ask] = useState(null);
  const [result, tell] = useState(null);
  const [run, busy, failed] = useAct();
  const wanted = useRef(null);
  /** The preview is of the fields as they were; after a change of one there is none. */
  const change = () => {
    wanted.current = null;
    ask(null);
  };
  useEffect(change, [chosen]);
  if (!mayWrite()) return html`<p>${W.forbidden}</p>`;
  const preview = (event) => {
    event.preventDefault();
    const which = { ids, filters: filtersOf(new FormData(event.currentTarget)) };
    change();
    tell(null);
    wanted.current = which;
    run(async () => {
      const found = await erasure(which, true);
      if (wanted.current === which) ask({ which, ...found });
    });
  };
  const erase = () => run(async () => {
    let erased = 0;
    try {
      for (let answer; erased < asked.matched; erased += answer.erased) {
        answer = await erasure(asked.which, false, Math.min(ERASED_AT_ONCE, asked.matched - erased));
        if (!answer.erased) break;
      }
    } finally {
      ask(null);
      tell(erased);
      changed();
    }
  });
  return html`${ids.length > 0 && html`<p>${words.onlyChosen(ids.length)} <button class="link" onClick=${() => amend({ ids: undefined })}>${words.everything}</button></p>`}
    <form class="cue" onSubmit=${preview} onInput=${change}>${Object.entries(words.filters).map(([name, [label, type]]) =>
      html`<label>${label}<input name=${name} type=${type} autocomplete="off" dir="auto" /></label>`)}<button class="write" disabled=${busy}>${words.preview}</button></form>
    ${asked && html`<${Preview} key=${asked.matched} asked=${asked} busy=${busy} erase=${erase} />`}
    ${failed && html`<${Fault} problem=${failed} />`}
    <p role="status" class="erased">${result !== null && words.erased(result)}</p>`;
}

const erasure = (which, dry, limit = 1) => call("POST", "/v1/episodes/erase", { body: { ...which, dry_run: dry, limit } });

function filtersOf(form) {
  return { session: form.get("session") || null, speaker: form.get("speaker") || null, occurred_from: instant(form.get("from")), occurred_before: instant(form.get("before")) };
}

function Preview({ asked, busy, erase }) {
  const words = W.forgetting;
  const [typed, type] = useState("");
  if (!asked.matched) return html`<${Empty} why=${words.noMatch} />`;
  const { traces, ...removes } = asked.removes;
  return html`<div class="problem erasing"><h2>${words.would(asked.matched)}</h2>
    <ul>${Object.entries(words.removes).filter(([kind]) => removes[kind]).map(([kind, one]) => html`<li data-removes=${kind} data-count=${removes[kind]}>${words.remove(removes[kind], one)}</li>`)}</ul>
    ${traces > 0 && html`<p>${words.stays(traces)}</p>`}<p>${words.forEver}</p><label class="short">${words.type(asked.matched)}<input name="number" inputmode="numeric" autocomplete="off" value=${typed}
      onInput=${(event) => type(event.currentTarget.value)} /></label>
    <button class="write" disabled=${busy || typed.trim() !== String(asked.matched)} onClick=${erase}>${words.eraseNow}</button></div>`;
}
