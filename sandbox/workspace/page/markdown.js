// Slack's block of standard Markdown as elements; a picture stays a link, and a tag stays text.
// https://docs.slack.dev/reference/block-kit/blocks/markdown-block

import { el, safeUrl, scrolling } from "./dom.js";

const INLINE = /`([^`\n]+)`|!?\[((?:\\.|[^\]\\\n])*)\]\(<?([^\s)>]*)>?[^)\n]*\)|<(https?:\/\/[^\s<>]+)>|\*\*(?!\s)(.+?)\*\*|__(?!\s)(.+?)__|(?<!\w)[*_](?!\s)([^*_\n]+)[*_](?!\w)|~~(.+?)~~|\\([!-/:-@[-`{-~])|(https?:\/\/[^\s<>|]*[^\s<>|.,;:!?)\]}'"])/g;

function linked(url, ...children) {
  return safeUrl(url) ? el("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, ...children) : el("span", {}, ...children);
}

export function inline(text) {
  const made = [];
  let last = 0;
  for (const found of text.matchAll(INLINE)) {
    if (found.index > last) made.push(text.slice(last, found.index));
    const [whole, code, label, url, angle, bold, strong, italic, strike, escaped, bare] = found;
    if (code) made.push(el("code", {}, code));
    else if (url !== undefined) made.push(linked(url, ...inline(label || url)));
    else if (angle || bare) made.push(linked(angle || bare, angle || bare));
    else if (bold || strong) made.push(el("b", {}, ...inline(bold || strong)));
    else if (italic) made.push(el("i", {}, ...inline(italic)));
    else if (strike) made.push(el("s", {}, ...inline(strike)));
    else made.push(escaped || whole);
    last = found.index + whole.length;
  }
  if (last < text.length) made.push(text.slice(last));
  return made;
}

const cells = (line) => line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => inline(cell.trim().replaceAll("\\|", "|")));

function table([head, , ...rows]) {
  const drawn = el("table", {}, el("thead", {}, el("tr", {}, ...cells(head).map((cell) => el("th", { scope: "col" }, ...cell)))),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, ...cells(row).map((cell) => el("td", {}, ...cell))))));
  return scrolling("Table", drawn);
}

/** Takes a run of lines from the front that all pass the test. */
function take(lines, test) {
  const end = lines.findIndex((line) => !test(line));
  return lines.splice(0, end < 0 ? lines.length : end);
}

const ITEM = /^\s*(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;
const OPENS = /^(?:\s*```|#{1,6}\s|>|\s*(?:[-*+]|\d{1,9}[.)])\s|\s*\||\s*(?:---|\*\*\*|___)\s*$)/;

function next(lines) {
  const line = lines[0];
  if (/^\s*```/.test(line)) {
    lines.shift();
    const body = take(lines, (one) => !/^\s*```\s*$/.test(one));
    lines.shift();
    return el("pre", {}, el("code", {}, body.join("\n")));
  }
  if (/^\s*\|/.test(line) && /^\s*\|?\s*:?-+/.test(lines[1] || "")) return table(take(lines, (one) => /^\s*\|/.test(one)));
  const head = /^#{1,6}\s+(.*?)#*$/.exec(line);
  if (head) { lines.shift(); return el("p", { class: "rich" }, el("b", {}, ...inline(head[1]))); }
  if (/^\s*(?:---|\*\*\*|___)\s*$/.test(line)) { lines.shift(); return el("hr"); }
  if (line.startsWith(">")) return el("blockquote", {}, ...draw(take(lines, (one) => one.startsWith(">")).map((one) => one.replace(/^>\s?/, ""))));
  if (ITEM.test(line)) {
    const name = ITEM.exec(line)[1] ? "ol" : "ul";
    const items = take(lines, (one) => ITEM.test(one) || /^\s+\S/.test(one));
    const joined = items.reduce((made, one) => (ITEM.test(one) ? [...made, ITEM.exec(one)[2]] : [...made.slice(0, -1), `${made.at(-1)} ${one.trim()}`]), []);
    return el(name, {}, ...joined.map((one) => el("li", {}, ...inline(one))));
  }
  const first = lines.shift();
  return el("p", { class: "rich", dir: "auto" }, ...inline([first, ...take(lines, (one) => one.trim() && !OPENS.test(one))].join("\n")));
}

function draw(lines) {
  const rest = [...lines], made = [];
  while (rest.length) {
    if (rest[0].trim()) made.push(next(rest));
    else rest.shift();
  }
  return made;
}

export const markdown = (block) => el("div", { class: "markdown" }, ...draw(block.text.split("\n")));
