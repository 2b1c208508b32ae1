// Cards in a message: a file, and the changed files of a pull request under the link to it.

import { post } from "./api.js";
import { el, safeUrl } from "./dom.js";
import { icon } from "./icons.js";
import { state } from "./store.js";

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

const SHOWN_FILES = 6;
const known = new Map();

const linksOf = (blocks) => JSON.stringify(blocks || []).match(/https?:\/\/[^"\\<>|\s]+/g) || [];

/** The address of the docs service's pull request that a message links to, or null. */
export function pullOf(message) {
  const docs = state.links.docs_service;
  if (!docs || !message.bot_id) return null;
  return linksOf([...(message.blocks || []), message.text]).find((url) => url.startsWith(docs) && /\/pull\/\d+$/.test(url)) || null;
}

function fileLine(file) {
  const at = file.path.lastIndexOf("/") + 1;
  return el("li", {},
    el("code", {}, el("span", { class: "folder" }, file.path.slice(0, at)), file.path.slice(at)), " ",
    el("span", { class: "small" }, file.action), " ", counts(file.added, file.removed));
}

const counts = (added, removed) => el("span", { class: "counts" },
  el("span", { class: "plus" }, `+${added}`), " ", el("span", { class: "minus" }, `−${removed}`));

function draw(card, url, pull) {
  const sum = (key) => pull.files.reduce((all, file) => all + file[key], 0);
  const more = pull.files.length - SHOWN_FILES;
  const count = `${pull.files.length} ${pull.files.length === 1 ? "file" : "files"} changed`;
  card.replaceChildren(
    el("p", { class: "pull-title" }, icon("pull", 16), " ", el("a", { href: safeUrl(url), target: "_blank", rel: "noopener" }, pull.title), ` #${pull.number}`),
    el("p", { class: "small" }, `${count} `, counts(sum("added"), sum("removed"))),
    el("ul", {}, ...pull.files.slice(0, SHOWN_FILES).map(fileLine), ...(more > 0 ? [el("li", { class: "small" }, `and ${more} more`)] : [])));
}

/** A card that fills itself; it stays empty when the docs service does not tell. */
export function pullCard(url, message) {
  // What a follow-up changes comes with another message or another face.
  const key = `${url} ${message.ts} ${message.text}`;
  const card = el("div", { class: "pull", role: "group", "aria-label": "Changed files" });
  if (known.has(key)) draw(card, url, known.get(key));
  else {
    card.hidden = true;
    post("pull", { url }).then((answer) => {
      if (!answer.ok) return;
      known.set(key, answer.pull);
      const log = card.closest(".log");
      const atBottom = log && log.scrollHeight - log.scrollTop - log.clientHeight < 60;
      draw(card, url, answer.pull);
      card.hidden = false;
      if (atBottom) log.scrollTop = log.scrollHeight;
    });
  }
  return card;
}
