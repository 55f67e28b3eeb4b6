// Dark or light: as the system says until the reader chooses.
import { signal } from "../vendor.js";
import { COLOURS } from "./paint.js";

const PLACE = "ecphoria.theme";
const dark = matchMedia("(prefers-color-scheme: dark)");
const NARROW = matchMedia("(max-width: 820px)");

/** Counts changes, so that a canvas is drawn in the new colours. */
export const looks = signal(0);

/** Whether the page has one column. */
export const narrow = signal(NARROW.matches);
NARROW.addEventListener("change", () => { narrow.value = NARROW.matches; });

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export function applyTheme() {
  const chosen = localStorage.getItem(PLACE);
  if (chosen) document.documentElement.dataset.theme = chosen;
  looks.value += 1;
}

export function switchTheme() {
  const now = document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
  localStorage.setItem(PLACE, now === "dark" ? "light" : "dark");
  applyTheme();
}
dark.addEventListener("change", () => { looks.value += 1; });

/** The colours of the picture, as the style sheet gives them now. */
export function palette() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}
