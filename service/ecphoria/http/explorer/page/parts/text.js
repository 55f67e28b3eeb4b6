// Texts of a memory, which anybody may have written: shown as they are, and never as markup.
import { html, useState } from "../vendor.js";
import { W } from "../words.js";

// Control characters, marks that turn the direction of a text, blanks without width, tags. Joiners
// stay, as scripts and emoji need them.
const HIDDEN =
  /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}])/u;

const codeOf = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** Split a text into plain pieces and boxed characters; together they have the same characters. */
export function pieces(text) {
  return text.split(HIDDEN).map((piece, place) =>
    place % 2 ? html`<span class="boxed" data-code=${codeOf(piece)} title=${codeOf(piece)}>${piece}</span>` : piece);
}

/** The same for pictures and names of files, where nothing can be boxed. @param {string} text */
export const plain = (text) => text.split(HIDDEN).map((piece, place) => (place % 2 ? `[${codeOf(piece)}]` : piece)).join("");

/** A text or a name of the memory. @param {{of: string|null|undefined}} props */
export const Text = ({ of }) => html`<bdi>${pieces(of ?? "")}</bdi>`;

/** The first element of a selector. @param {string} selector @returns {HTMLElement|null} */
export const element = (selector) => document.querySelector(selector);

const characters = new Intl.Segmenter();

/** The start of a text, of at most so many UTF-16 units. No character is halved: an emoji may have eleven units. */
export const upTo = (text, most) =>
  text.length <= most ? text : text.slice(0, characters.segment(text).containing(most).index);

/** A text of at most so many UTF-16 units; one that was longer ends with an ellipsis. */
export const cut = (text, most) => (text.length <= most ? text : `${upTo(text, most - 1)}…`);

const CLIP = 600;

/** A long text, cut until it is asked for. @param {{of: string}} props */
export function Long({ of }) {
  const [whole, show] = useState(false);
  if (whole || of.length <= CLIP) return html`<${Text} of=${of} />`;
  return html`<${Text} of=${cut(of, CLIP)} />${" "}
    <button class="link" onClick=${() => show(true)}>${W.hit.whole([...of].length)}</button>`;
}
