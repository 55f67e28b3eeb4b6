// The state of the page stands in the fragment: #/ask?cue=...&step=...
import { signal } from "./vendor.js";

/** @typedef {{screen: string, query: Record<string, string>}} Route */

/** The screens that exist; the first is the default. */
export const SCREENS = ["ask", "traces", "timeline", "concept", "review", "forgetting"];

/** @returns {Route} */
function read() {
  const [, path, search] = /^#?\/?([^?]*)\??(.*)/.exec(location.hash);
  const screen = SCREENS.includes(path) ? path : SCREENS[0];
  return { screen, query: Object.fromEntries(new URLSearchParams(search)) };
}

/** Take the ticket out of the address, before anything else can see it. */
export function takeTicket() {
  const found = /^#ticket=([\w-]+)/.exec(location.hash);
  if (found) history.replaceState(null, "", location.pathname);
  return found ? found[1] : null;
}

/** @type {{value: Route}} */
export const route = signal(read());

/** Write a query for an address, without its empty fields. @param {Record<string, unknown>} query */
export function searchOf(query) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return search && `?${search}`;
}

/** @param {string} screen @param {Record<string, unknown>} query */
export const href = (screen, query = {}) => `#/${screen}${searchOf(query)}`;

/** Open a screen as a new entry of the history. */
export function go(screen, query = {}) {
  const address = href(screen, query);
  if (location.hash !== address) history.pushState(null, "", address);
  route.value = read();
}

/** Change a part of the state in place: it is no step back of its own. */
export function amend(changes) {
  const { screen, query } = route.value;
  history.replaceState(null, "", href(screen, { ...query, ...changes }));
  route.value = read();
}

const again = () => { route.value = read(); };
addEventListener("popstate", again);
addEventListener("hashchange", again);
