// Reading from the service, and the buttons that change the memory.
import { html, useEffect, useRef, useState } from "../vendor.js";
import { call, mayWrite } from "../api.js";
import { W } from "../words.js";
import { Empty, Fault, Loading } from "./dialog.js";

/**
 * Read again whenever the inputs change; the answer to a former input is dropped.
 * @param {(signal: AbortSignal) => Promise<any>} read @param {unknown[]} inputs
 */
export function useRead(read, inputs) {
  const [state, got] = useState({});
  const [times, count] = useState(0);
  useEffect(() => {
    const ends = new AbortController();
    got((before) => ({ ...before, problem: null }));
    read(ends.signal).then((value) => ends.signal.aborted || got({ value }), (problem) => {
      if (problem.name !== "AbortError") got({ problem });
    });
    return () => ends.abort();
  }, [...inputs, times]);
  return { ...state, again: () => count((before) => before + 1) };
}

/**
 * A list of the service, a page at a time.
 * @param {string} path @param {Record<string, unknown>} query
 * @param {(items: any[], signal?: AbortSignal) => Promise<any[]>} [fill] Adds to the items of a page.
 */
export function usePages(path, query, fill = async (items) => items) {
  const of = JSON.stringify(query);
  const read = async (cursor, signal) => {
    const page = await call("GET", path, { query: { ...query, cursor }, signal });
    return { of, items: await fill(page.items, signal), next: page.next_cursor };
  };
  const { value, problem, again } = useRead((signal) => read(undefined, signal), [path, of]);
  const first = value?.of === of ? value : undefined;  // a list of another query is not shown
  const [further, add] = useState({});
  const reads = useRef(false);
  const mine = further.first === first ? further : {};
  const more = async () => {
    if (reads.current) return;
    reads.current = true;
    /** @type {any} */
    const page = await read(mine.next ?? first.next).catch((failed) => ({ items: [], next: mine.next ?? first.next, failed }));
    reads.current = false;
    add({ first, items: [...(mine.items ?? []), ...page.items], next: page.next, failed: page.failed });
  };
  const next = mine.first ? mine.next : first?.next;
  return { items: first && [...first.items, ...(mine.items ?? [])], problem: problem ?? mine.failed, again, more: next ? more : null };
}

/** What stands around a list: its problem, its wait, why it is empty, and its next page. */
export function Pages({ of: { items, problem, again, more }, empty, children }) {
  return html`${problem && html`<${Fault} problem=${problem} again=${again} />`}
    ${!items && !problem && html`<${Loading} />`}
    ${items && !items.length && !more && (typeof empty === "string" ? html`<${Empty} why=${empty} />` : empty)}
    ${items?.length > 0 && children()}
    ${more && html`<button onClick=${more}>${W.more}</button>`}`;
}

/**
 * Run something, once at a time; a refusal is kept to be shown.
 * @returns {[(act: () => Promise<unknown>) => Promise<void>, boolean, any]}
 */
export function useAct() {
  const [busy, work] = useState(false);
  const [failed, fail] = useState(null);
  const works = useRef(false);  // of now, not of the rendering that made this function
  const run = async (act) => {
    if (works.current) return;
    work(works.current = true);
    fail(null);
    try {
      await act();
    } catch (problem) {
      if (problem.name !== "AbortError") fail(problem);
    }
    work(works.current = false);
  };
  return [run, busy, failed];
}

/**
 * A button that changes the memory; a key that may only read has none. It shows nothing before the
 * service says that it is done.
 */
export function Act({ does, shortcut, children, ...rest }) {
  const [run, busy, failed] = useAct();
  if (!mayWrite()) return null;
  return html`<button class="write" type="button" aria-keyshortcuts=${shortcut} aria-busy=${busy} ...${rest} onClick=${() => run(does)}>
    ${children}${shortcut && html` <kbd>${shortcut}</kbd>`}</button>${failed && html`<span class="fault" role="alert">${failed.message}</span>`}`;
}
