// Sign-in: a ticket from the command line, or a key.
import { html, useState } from "../vendor.js";
import { Problem, redeem, signIn, signedOut } from "../api.js";
import { forgetAsked } from "../asking.js";
import { go } from "../route.js";
import { W } from "../words.js";

/** Whether a ticket is being redeemed, and why that failed. */
export async function enterBy(ticket) {
  try {
    await redeem(ticket, forgetAll);
  } catch (problem) {
    signedOut.value = problem.status === 401 ? W.usedTicket : problem.message;
  }
}

/** Another tenant must not see what was asked before. */
function forgetAll() {
  forgetAsked();
  go("ask");
}

export function SignIn() {
  const [busy, work] = useState(false);
  const enter = async (event) => {
    event.preventDefault();
    const key = String(new FormData(event.currentTarget).get("key")).trim();
    work(true);
    try {
      if (/[^ -\u00ff]/.test(key)) throw new Problem(401);  // no header can hold it, so it is no key
      await signIn({ key: key || null, tenant: null, ticket: false }, forgetAll);
    } catch (problem) {
      signedOut.value = problem.status === 401 ? W.wrongKey : problem.message;
    }
    work(false);
  };
  return html`<main class="sign-in"><img src="/explorer/icon.svg" alt="" width="48" height="48" /><h1>${W.signIn}</h1>
    ${signedOut.value && html`<p class="problem" role="alert">${signedOut.value}</p>`}
    <p>${W.signInHow}</p><pre><code>${W.signInCommand}</code></pre>
    <p>${W.signInKey}</p>
    <form onSubmit=${enter}>
      <label>${W.key}<input name="key" type="password" autocomplete="off" spellcheck="false" aria-describedby="hint" /></label>
      <p id="hint" class="dim">${W.keyHint}</p>
      <button class="main" disabled=${busy}>${busy ? W.signingIn : W.signIn}</button>
    </form></main>`;
}
