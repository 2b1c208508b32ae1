// A list with one tab stop, where the arrow keys move, and the menu behind three dots.
// https://www.w3.org/WAI/ARIA/apg/practices/keyboard-interface/ · https://docs.slack.dev/reference/block-kit/block-elements/overflow-menu-element

import { el } from "./dom.js";
import { icon } from "./icons.js";

const INSIDE = "a[href], button, input, select, textarea, summary";

/** Makes one of these the tab stop; what lies inside the others is out of the order of Tab. */
function settle(items, current) {
  for (const item of items) {
    const isHere = item === current;
    item.tabIndex = isHere ? 0 : -1;
    for (const inner of item.querySelectorAll(INSIDE)) inner.tabIndex = isHere ? 0 : -1;
  }
}

/**
 * Lets the arrow keys, Home and End move among the elements that match in a container.
 * Returns what to call when they have changed. `start` tells which one is the tab stop at first.
 */
export function roving(container, selector, { keys = ["ArrowUp", "ArrowDown"], start = (items) => items[0] } = {}) {
  let current = null;
  const items = () => [...container.querySelectorAll(selector)];
  const make = (item) => { current = item; settle(items(), item); };

  container.addEventListener("focusin", (event) => {
    const item = event.target.closest(selector);
    if (item && item !== current) make(item);
  });
  container.addEventListener("keydown", (event) => {
    // Inside an item the keys belong to what has the focus there, such as a menu.
    if (!event.target.matches(selector) || event.altKey || event.ctrlKey || event.metaKey) return;
    const all = items(), at = all.indexOf(event.target);
    const to = { [keys[0]]: at - 1, [keys[1]]: at + 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    all[Math.min(Math.max(to, 0), all.length - 1)]?.focus();
  });
  return () => {
    const all = items();
    if (!all.length) return;
    // A message that changed is drawn anew, and stays the tab stop.
    const again = () => all.find((item) => item.dataset.ts && item.dataset.ts === current?.dataset.ts);
    make(all.includes(current) ? current : again() || start(all));
  };
}

/** The button and its menu; `choose` gets the option that was taken. */
export function overflowMenu(options, choose) {
  const take = async (option) => { list.hidePopover(); await choose(option); };
  const list = el("div", { role: "menu", class: "menu", popover: "auto", "aria-label": "More actions" },
    ...options.map((option) => el("button", { type: "button", role: "menuitem", onclick: () => take(option) }, option.text.text)));
  const opener = el("button", {
    type: "button", class: "button more", "aria-label": "More actions", title: "More actions", "aria-haspopup": "menu", "aria-expanded": "false",
    onclick: () => { if (list.togglePopover()) place(); },
  }, icon("more"));
  list.addEventListener("toggle", (event) => opener.setAttribute("aria-expanded", String(event.newState === "open")));
  const place = () => {
    const at = opener.getBoundingClientRect(), { offsetHeight: height, offsetWidth: width } = list;
    list.style.left = `${Math.min(at.left, innerWidth - width - 8)}px`;
    list.style.top = `${at.bottom + height + 8 > innerHeight ? at.top - height - 4 : at.bottom + 4}px`;
    list.querySelector("button").focus();
  };
  list.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" && event.key !== "Tab") return;
    event.stopPropagation();
    list.hidePopover();
    opener.focus();
  });
  roving(list, "button")();
  return el("span", {}, opener, list);
}
