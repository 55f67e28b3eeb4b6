// The page: who is signed in, which screen is shown, and the keys.
import { html, render, signal, useEffect, useState } from "./vendor.js";
import { actFor, allowed, banner, call, me, Problem, session, signedOut, signIn, signOut } from "./api.js";
import { forgetAsked } from "./asking.js";
import { go, href, route, SCREENS, takeTicket } from "./route.js";
import { day, W } from "./words.js";
import { Fault, KeyList, Loading } from "./parts/dialog.js";
import { useRead } from "./parts/reading.js";
import { element, Text } from "./parts/text.js";
import { applyTheme, switchTheme } from "./parts/theme.js";
import { Ask, askKey } from "./screens/ask.js";
import { enterBy, SignIn } from "./screens/sign_in.js";

/** The screens that are loaded; the others come when they are opened first. */
const loaded = signal({ ask: Ask });
/** The second key of `g`, as two screens begin with the same letter. */
const LETTERS = { a: "ask", x: "traces", t: "timeline", c: "concept", r: "review", f: "forgetting" };
const entering = signal(true);
const listing = signal(false);

function Page() {
  useEffect(followTenant, [route.value.query.tenant, me.value]);
  useEffect(() => { document.title = W.titleOf(W.tabs[route.value.screen]); }, [route.value.screen]);
  if (entering.value) return html`<${Banner} /><main class="sign-in"><h1>${W.name}</h1><${Loading} text=${W.signingIn} /></main>`;
  if (!session.value || !me.value) return html`<${Banner} /><${SignIn} />`;
  const tenant = session.value.tenant;
  return html`<${Header} /><${Banner} />${listing.value && html`<${KeyList} close=${() => { listing.value = false; }} />`}
    ${!tenant ? html`<main class="sign-in"><h1>${W.chooseTenant}</h1></main>` : strange(tenant)
      ? html`<main class="sign-in"><h1>${W.tenant}</h1><p role="alert"><${Text} of=${W.otherTenant(route.value.query.tenant)} /></p></main>`
      : html`<${Screen} key=${tenant} name=${route.value.screen} />`}`;
}

function Screen({ name }) {
  const [problem, fail] = useState(null);
  useEffect(() => {
    fail(null);
    if (name in loaded.value) return;
    import(`./screens/${name}.js`).then(
      (found) => { loaded.value = { ...loaded.value, [name]: found.default }; }, () => fail(new Problem(0)));
  }, [name]);
  const Shown = loaded.value[name];
  if (Shown) return html`<${Shown} />`;
  return html`<main><h1>${W.tabs[name]}</h1>${problem ? html`<${Fault} problem=${problem} again=${() => location.reload()} />` : html`<${Loading} />`}</main>`;
}

/** An operator can go back to the address of another tenant. */
function followTenant() {
  const wanted = route.value.query.tenant;
  if (!me.value?.operator || !wanted || wanted === session.value?.tenant) return;
  forgetAsked();
  actFor(wanted);
}

/** Whether the address is of another tenant than the key. */
const strange = (tenant) => !me.value.operator && route.value.query.tenant && route.value.query.tenant !== tenant;

function Header() {
  const tenant = session.value.tenant;
  return html`<header><a class="brand" href="#/ask"><img src="/explorer/icon.svg" alt="" width="24" height="24" />${W.name}</a>
    <nav>${SCREENS.map((name) => html`<a href=${href(name, me.value.operator ? { tenant } : {})}
      aria-current=${route.value.screen === name ? "page" : null}>${W.tabs[name]}</a>`)}</nav>
    <span class="self">${me.value.operator ? html`<mark>${W.operator}</mark><${Tenants} />${session.value.tenant && html`<${Allow} />`}` : html`<span class="tenant"><${Text} of=${tenant} /></span>`}
      <button onClick=${switchTheme} aria-label=${W.theme} title=${W.theme}>◐</button>
      <button onClick=${() => { listing.value = true; }} aria-label=${W.keys} title=${W.keys}>?</button>
      <button onClick=${leave}>${W.signOut}</button></span>
  </header>`;
}

/** An operator changes nothing by accident. */
const Allow = () => html`<label class="check"><input type="checkbox" name="allow" checked=${allowed.value}
  onChange=${(event) => { allowed.value = event.currentTarget.checked; }} />${W.allow}</label>`;

/** The tenants of the service, for an operator. */
function Tenants() {
  const chosen = session.value.tenant ?? "";
  // A change of the tenant ends this request too, so it is sent again.
  const { value, problem, again } = useRead((signal) => call("GET", "/v1/tenants", { signal }), [chosen]);
  if (problem) return html`<span class="fault" role="alert">${problem.message}${" "}<button onClick=${again}>${W.tryAgain}</button></span>`;
  return html`<select aria-label=${W.chooseTenant} value=${chosen} onChange=${(event) => change(event.currentTarget.value)}>
    ${!chosen && html`<option value="">${W.chooseTenant}</option>`}
    ${(value?.items ?? []).map(({ name, created_at: made }) => html`<option value=${name}>${W.tenantOf(name, day(made))}</option>`)}</select>`;
}

/** Nothing of the former tenant stays: not in the state, not in the address. */
function change(tenant) {
  forgetAsked();
  actFor(tenant);
  go("ask", { tenant });
}

async function leave() {
  forgetAsked();
  go("ask");
  await signOut();
}

/** The reason for a pause; or why a ticket did not sign in while the former key still works. */
function Banner() {
  if (banner.value) return html`<p class="banner" role="alert">${banner.value}</p>`;
  return me.value && signedOut.value && html`<p class="banner" role="alert">${signedOut.value}${" "}
    <button onClick=${() => { signedOut.value = ""; }}>${W.close}</button></p>`;
}

let prefix = false;

/** Keys work wherever nobody writes. */
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !me.value || listing.value) return;
  const writing = event.target.closest?.("input, select, textarea, [contenteditable]");
  if (writing && event.key !== "Escape") return;
  if (event.target.closest?.("button, a, summary") && [" ", "Enter"].includes(event.key)) return;
  if (pageKey(event.key) || (route.value.screen === "ask" && askKey(event)) || shortcut(event)) event.preventDefault();
}

/** Press the control that names this key; one that is held down decides about one merge only. */
function shortcut({ key, repeat }) {
  if (repeat) return false;
  const found = element(`main [aria-keyshortcuts="${CSS.escape(key)}"]`);
  found?.click();
  return Boolean(found);
}

function pageKey(key) {
  const jump = prefix && LETTERS[key];
  prefix = key === "g";
  if (jump) go(jump, me.value.operator ? { tenant: session.value.tenant } : {});
  else if (key === "?") listing.value = true;
  else if (key === "/") element("main input")?.focus();
  else return prefix;
  return true;
}

/** A ticket may come into a page that is open already. */
async function enterAgain() {
  const ticket = takeTicket();
  if (!ticket) return;
  entering.value = true;
  await enterBy(ticket);
  entering.value = false;
}

async function start() {
  const ticket = takeTicket();
  addEventListener("hashchange", enterAgain);
  applyTheme();
  render(html`<${Page} />`, document.getElementById("page"));
  addEventListener("keydown", onKey);
  if (ticket) await enterBy(ticket);
  else if (session.value) await resume();
  entering.value = false;
}

/** Take up the session of this tab; an operator's link may name another tenant. */
async function resume() {
  const wanted = route.value.query.tenant;
  await signIn(session.value).catch((problem) => { if (problem.status !== 401) signedOut.value = problem.message; });
  if (me.value?.operator && wanted && wanted !== session.value.tenant) actFor(wanted);
}

start();
