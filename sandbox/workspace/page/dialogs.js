// The page's own dialogues and notices.

import { byId, el } from "./dom.js";
import { icon } from "./icons.js";

export function notice(text) {
  const line = el("p", {}, text);
  byId("notices").append(line);
  setTimeout(() => line.remove(), 6000);
}

/** Opens a dialogue, and gives the focus back when it closes. */
export function open(box) {
  const before = document.activeElement;
  box.showModal();
  box.addEventListener("close", () => {
    // The event comes later than the closing: by now a person may write elsewhere.
    if (document.activeElement !== before && document.activeElement !== document.body) return;
    // Chromium gives a field its focus back without a caret, and then drops what is typed.
    before?.blur();
    before?.focus({ preventScroll: true });
  }, { once: true });
}

/** A dialogue of the page that is gone when it is closed. */
export function show(title, ...content) {
  const close = el("button", { type: "button", class: "icon", "aria-label": "Close", onclick: () => box.close() }, icon("close"));
  const box = el("dialog", { class: "modal", "aria-label": title }, el("header", {}, el("h2", {}, title), close), ...content);
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  open(box);
  return box;
}

/** A dialogue with two buttons; resolves to whether it was left with the second. */
function decided(title, no, yes, ...content) {
  return new Promise((resolve) => {
    const box = show(title, el("form", { method: "dialog" }, el("div", { class: "fill" }, ...content),
      el("footer", {}, el("button", { class: "button", value: "no" }, no), el("button", { class: "button primary", value: "yes" }, yes))));
    box.querySelector("textarea")?.focus();
    box.addEventListener("close", () => resolve(box.returnValue === "yes"));
  });
}

/** A yes-or-no question; resolves to whether it was yes. */
export const ask = (title, text, yes, no) => decided(title, no, yes, el("p", {}, text));

/** Some lines to write; resolves to them, or to null if the dialogue was left. */
export async function askText(title, label, text) {
  const field = el("textarea", { rows: 4, id: "asked-text", value: text });
  return (await decided(title, "Cancel", "Save", el("label", { for: "asked-text" }, label), field)) ? field.value : null;
}
