// The only place that talks to the service, and the only one that knows the key.
import { signal } from "./vendor.js";
import { searchOf } from "./route.js";
import { clock, W } from "./words.js";

/**
 * @typedef {{key: string|null, tenant: string|null, ticket: boolean}} Kept
 * @typedef {{tenant: string|null, key_name: string|null, scopes: string[], operator: boolean, ask: boolean}} Me
 */

const PLACE = "ecphoria.explorer";
const LONGEST_WAIT_S = 30;

/** @type {{value: Kept|null}} */
export const session = signal(restored());
/** @type {{value: Me|null}} */
export const me = signal(null);
/** Words of the banner while the service does not answer or asks to wait. */
export const banner = signal("");
/** Why the sign-in is shown again, or why a ticket did not change the key. */
export const signedOut = signal("");

let epoch = new AbortController();

/** A problem of the service (RFC 9457), or no answer at all: then `status` is 0. */
export class Problem extends Error {
  constructor(status, told = {}, retryAfter = 0) {
    super(told.detail || told.title || W.noAnswer);
    this.status = status;
    this.title = told.title || W.noAnswer;
    this.requestId = told.request_id || "";
    this.retryAfter = retryAfter;
  }
}

function restored() {
  try {
    return JSON.parse(sessionStorage.getItem(PLACE) || "null");
  } catch {
    return null;
  }
}

function keep(kept) {
  if (kept) sessionStorage.setItem(PLACE, JSON.stringify(kept));
  else sessionStorage.removeItem(PLACE);
  session.value = kept;
}

/** End every open request: its answer belongs to another tenant or key. */
function dropRequests() {
  epoch.abort();
  epoch = new AbortController();
  allowed.value = false;
  banner.value = "";
}

let former = null;

/**
 * Sign in with a key and look up its rights.
 * @param {Kept} kept
 * @param {() => void} [forgets] Called first if the key before was of another tenant.
 */
export async function signIn(kept, forgets = () => {}) {
  // The session of this tab waits for a service that is away, as every other request of it.
  const asked = kept === session.value ? await call("GET", "/v1/me") : await request("GET", "/v1/me", { as: kept });
  const before = session.value?.tenant ?? former;
  if (before && asked.tenant && before !== asked.tenant) {
    dropRequests();
    forgets();
  }
  me.value = asked;
  signedOut.value = "";
  keep({ ...kept, tenant: asked.tenant || kept.tenant });
}

/** Swap a ticket for a key of one tenant. @param {string} ticket @param {() => void} forgets */
export async function redeem(ticket, forgets) {
  const given = await request("POST", "/explorer/redeem", { body: { ticket }, as: null });
  await signIn({ key: given.key, tenant: given.tenant, ticket: true }, forgets);
}

/** Forget the key; one that came by a ticket is revoked too. */
export async function signOut() {
  const kept = session.value;
  forget("");
  if (!kept?.ticket || !kept.key) return;
  await request("DELETE", "/v1/me", { as: kept }).catch((problem) => { if (problem.status !== 401) signedOut.value = W.notRevoked; });
}

function forget(reason) {
  former = session.value?.tenant ?? former;
  dropRequests();
  keep(null);
  me.value = null;
  signedOut.value = reason;
}

/** Act for another tenant; only an operator can. */
export function actFor(tenant) {
  dropRequests();
  keep({ ...session.value, tenant });
}

/** Whether an operator has allowed changes; each sign-in and each tenant begin without. */
export const allowed = signal(false);

export const mayWrite = () => Boolean(me.value?.scopes.includes("write") && (allowed.value || !me.value.operator));

/**
 * Ask the service. While it does not answer, a request that changes nothing is sent again after
 * 1, 2, 4 ... 30 s; one that is refused for its rate waits as long as it is told.
 * @param {string} method
 * @param {string} path
 * @param {{query?: Record<string, unknown>, body?: object, signal?: AbortSignal, again?: boolean}} [options]
 */
export async function call(method, path, options = {}) {
  const mine = epoch.signal;
  const ends = options.signal ? AbortSignal.any([mine, options.signal]) : mine;
  const again = options.again ?? method === "GET";
  let told = "";
  try {
    for (let tries = 0; ; tries += 1) {
      try {
        return await request(method, path, { ...options, as: session.value, signal: ends });
      } catch (problem) {
        if (ends.aborted) throw problem;
        if (problem.status === 401) forget(W.keyEnded);
        const seconds = waitFor(problem, again, tries);
        if (!seconds) throw problem;
        banner.value = told = problem.status === 429 ? W.tooMany(seconds) : W.outage(seconds);
        await pause(seconds, ends);
      }
    }
  } finally {
    if (banner.value === told) banner.value = "";  // another request may still wait
  }
}

function waitFor(problem, again, tries) {
  if (problem.status === 429) return problem.retryAfter || 1;
  if (!again || ![0, 502, 503, 504].includes(problem.status)) return 0;
  return Math.min(2 ** tries, LONGEST_WAIT_S);
}

function pause(seconds, ends) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    ends.addEventListener("abort", () => { clearTimeout(timer); reject(ends.reason); }, { once: true });
  });
}

/** The writes that the next requests must see; only a store in a cluster tells some (decision 0115). */
let bookmarks = "";

function headersOf(as, body) {
  const headers = new Headers();
  if (bookmarks) headers.set("Ecphoria-Bookmarks", bookmarks);
  if (body) headers.set("Content-Type", "application/json");
  if (as?.key) headers.set("Authorization", `Bearer ${as.key}`);
  // A key of one tenant names it itself. A tenant in a link may have any characters, a header may not; the names of
  // real tenants do not change by this.
  if (as?.tenant && (!as.key || me.value?.operator)) headers.set("Ecphoria-Tenant", encodeURIComponent(as.tenant));
  return headers;
}

async function request(method, path, given) {
  const answer = await send(method, path, given);
  if (answer.status === 204) return null;
  return answer.json().catch((failed) => { throw given.signal?.aborted ? failed : new Problem(0); });
}

/** @param {{query?: Record<string, unknown>, body?: object, signal?: AbortSignal, as: Kept|null}} given */
async function send(method, path, given) {
  const { query = {}, body, signal, as } = given;
  const sent = body && JSON.stringify(body);
  let answer;
  try {
    const headers = headersOf(as, body);
    answer = await fetch(path + searchOf(query), { method, body: sent, signal, headers, credentials: "omit", cache: "no-store" });
  } catch (failed) {
    if (signal?.aborted) throw failed;
    throw new Problem(0);
  }
  bookmarks = answer.headers.get("Ecphoria-Bookmarks") ?? bookmarks;
  clock.ahead = Date.parse(answer.headers.get("Date")) - Date.now() || 0;
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => ({}));
  throw new Problem(answer.status, told, Number(answer.headers.get("Retry-After")) || 0);
}

/**
 * Send a request whose answer comes in parts. The signal or a change of the key ends it.
 * @param {string} path @param {object} body @param {AbortSignal} signal
 * @param {(name: string, data: any) => void} take Gets each event.
 */
export async function stream(path, body, signal, take) {
  const ends = AbortSignal.any([epoch.signal, signal]);
  try {
    const answer = await send("POST", path, { body, signal: ends, as: session.value });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let kept = "", piece = await reader.read(); !piece.done; piece = await reader.read()) {
      const events = (kept + piece.value).split("\n\n");
      kept = events.pop();
      for (const event of events) take(/^event: (.*)$/m.exec(event)?.[1], JSON.parse(/^data: (.*)$/m.exec(event)[1]));
    }
  } catch (problem) {
    if (problem.status === 401) forget(W.keyEnded);
    throw problem instanceof Problem || ends.aborted ? problem : new Problem(0);  // the connection broke
  }
}
