// A file in a message: its name as a link, its size, and the first rows of a table of values.

import { el, scrolling } from "./dom.js";
import { icon } from "./icons.js";

const SHOWN_ROWS = 5;

export function sizeOf(bytes) {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  const [unit, scale] = bytes < 1_000_000 ? ["kB", 1000] : ["MB", 1_000_000];
  return `${(bytes / scale).toFixed(bytes / scale < 10 ? 1 : 0)} ${unit}`;
}

/** One line of comma-separated values; quotes as in https://www.rfc-editor.org/rfc/rfc4180. */
export function valuesOf(line) {
  const values = [];
  for (const [, quoted, plain] of line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)) {
    values.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
  }
  return values;
}

const isNumber = (value) => /^-?[\d.,]+%?$/.test(value);

function tableOf(file) {
  const [head, ...rows] = file.preview.replace(/^\ufeff/, "").split("\n").map(valuesOf);
  const shown = rows.slice(0, SHOWN_ROWS);
  const more = file.lines - 1 - shown.length;
  const cells = (row) => row.map((value) => el("td", { class: isNumber(value) ? "number" : "" }, value));
  return [
    scrolling(`First rows of ${file.name}`, el("table", {}, el("thead", {}, el("tr", {}, ...head.map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, ...shown.map((row) => el("tr", {}, ...cells(row)))))),
    ...(more > 0 ? [el("p", { class: "small" }, `and ${more.toLocaleString("en")} more ${more === 1 ? "row" : "rows"}`)] : []),
  ];
}

export function fileCard(file) {
  // Its path alone: the page may have been reached by another name than the workspace knows.
  const path = `/files/${encodeURIComponent(file.id)}`;
  const link = el("a", { href: path, download: file.name }, file.title || file.name);
  const about = [file.title && file.title !== file.name ? file.name : "", sizeOf(file.size)].filter(Boolean).join(" · ");
  const preview = file.filetype === "csv" && file.preview ? tableOf(file) : file.preview ? [el("pre", {}, file.preview)] : [];
  return el("div", { class: "file" }, el("p", {}, icon("file", 16), " ", link, " ", el("span", { class: "small" }, about)), ...preview);
}
