// The menu behind three dots. https://docs.slack.dev/reference/block-kit/block-elements/overflow-menu-element

import { el } from "./dom.js";
import { icon } from "./icons.js";
import { roving } from "./roving.js";

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
