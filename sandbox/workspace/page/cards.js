// The card of a file in a message.

import { el } from "./dom.js";
import { icon } from "./icons.js";

function sizeOf(bytes) {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  const [unit, scale] = bytes < 1_000_000 ? ["kB", 1000] : ["MB", 1_000_000];
  return `${(bytes / scale).toFixed(bytes / scale < 10 ? 1 : 0)} ${unit}`;
}

export function fileCard(file) {
  // Its path alone: the page may have been reached by another name than the workspace knows.
  const path = `/files/${encodeURIComponent(file.id)}`;
  const link = el("a", { href: path, download: file.name }, file.title || file.name);
  const about = [file.title && file.title !== file.name ? file.name : "", sizeOf(file.size)].filter(Boolean).join(" · ");
  const preview = file.preview ? [el("pre", {}, file.preview), el("p", { class: "small" }, `${file.lines_more.toLocaleString("en")} more lines`)] : [];
  return el("div", { class: "file" }, el("p", {}, icon("file", 16), " ", link, " ", el("span", { class: "small" }, about)), ...preview);
}
