// The page's own signs, drawn so that they look the same on every machine. Signs in messages are emoji.

import { svg } from "./dom.js";

const PATHS = {
  docs: "M6 3h8l5 5v13H6zM14 3v5h5M9 13h7M9 17h7",
  faults: "M13 2 4 14h7l-1 8 9-12h-7z",
  help: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.5 9.5a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1 1-1.1 1.8M12 17v.01",
  menu: "M4 6h16M4 12h16M4 18h16",
  close: "M6 6l12 12M18 6 6 18",
  hash: "M9 4 7 20M17 4l-2 16M4 9h16M3 15h16",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  people: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20a6.5 6.5 0 0 1 13 0M16 4.5a3.5 3.5 0 0 1 0 6M18 14.5a6.5 6.5 0 0 1 3.5 5.5",
  clip: "M20 11.5 12 19.5a5 5 0 0 1-7-7l8.5-8.5a3.3 3.3 0 0 1 4.7 4.7L9.8 17a1.6 1.6 0 0 1-2.3-2.3L15 7.2",
  send: "M4 12 3 4l18 8-18 8 1-8zm0 0h9",
  reply: "M4 5h16v11H9l-5 4z",
  thumb: "M7 11v9H4v-9zM7 11l4-8c1.7 0 2.5 1.2 2.2 2.8L12.5 9H19c1.2 0 2 1 1.8 2.2l-1.3 7c-.2 1-1 1.8-2 1.8H7",
  eye: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6z",
  spark: "M12 3l2 6.5L20.5 12 14 14.5 12 21l-2-6.5L3.5 12 10 9.5z",
  edit: "M4 20l1-4L16.5 4.5l3 3L8 19z",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5",
  file: "M6 3h8l5 5v13H6zM14 3v5h5",
};

/** A sign beside words, or in a button that has its name. */
export function icon(name, size = 18) {
  return svg("svg", { class: "sign-icon", viewBox: "0 0 24 24", width: size, height: size, "aria-hidden": "true", focusable: "false" }, svg("path", { d: PATHS[name] }));
}
