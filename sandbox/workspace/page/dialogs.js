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

/** A yes-or-no question; resolves to whether it was yes. */
export function ask(title, text, yes, no) {
  return new Promise((resolve) => {
    const box = show(title, el("form", { method: "dialog" },
      el("div", { class: "fill" }, el("p", {}, text)),
      el("footer", {}, el("button", { class: "button", value: "no" }, no), el("button", { class: "button primary", value: "yes" }, yes))));
    box.addEventListener("close", () => resolve(box.returnValue === "yes"));
  });
}

/** One line to write; resolves to it, or to null if it was left. */
export function askText(title, label, text) {
  return new Promise((resolve) => {
    const field = el("textarea", { rows: 4, id: "asked-text", value: text });
    const box = show(title, el("form", { method: "dialog" },
      el("div", { class: "fill" }, el("label", { for: "asked-text" }, label), field),
      el("footer", {}, el("button", { class: "button", value: "no" }, "Cancel"), el("button", { class: "button primary", value: "yes" }, "Save"))));
    field.focus();
    box.addEventListener("close", () => resolve(box.returnValue === "yes" ? field.value : null));
  });
}
