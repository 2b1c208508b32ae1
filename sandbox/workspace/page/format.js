// The formatting bar: it writes Slack's mrkdwn around what is selected.
// https://docs.slack.dev/messaging/formatting-message-text

import { el } from "./dom.js";
import { icon } from "./icons.js";
import { roving } from "./roving.js";

const AROUND = [
  ["Bold", "bold", "*", "b"], ["Italic", "italic", "_", "i"], ["Strikethrough", "strike", "~", "x"], ["Code", "code", "`", "e"],
];
const BEFORE = [["Quote", "quote", "> "], ["Bulleted list", "list", "• "]];

function changed(field, text, from, to) {
  field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
  field.setSelectionRange(from, to);
  field.focus();
  field.dispatchEvent(new Event("input"));
}

function surround(field, mark) {
  const { selectionStart: from, selectionEnd: to } = field;
  const inside = field.value.slice(from, to);
  changed(field, mark + inside + mark, from + mark.length, to + mark.length);
}

/** Begins each selected line with a sign. */
function begin(field, sign) {
  const from = field.value.lastIndexOf("\n", field.selectionStart - 1) + 1;
  const lines = field.value.slice(from, field.selectionEnd).split("\n").map((line) => sign + line).join("\n");
  field.setSelectionRange(from, field.selectionEnd);
  changed(field, lines, from + lines.length, from + lines.length);
}

function codeBlock(field) {
  const inside = field.value.slice(field.selectionStart, field.selectionEnd);
  const from = field.selectionStart + 4;
  changed(field, `\`\`\`\n${inside}\n\`\`\``, from, from + inside.length);
}

/** The bar for a field. Ctrl or ⌘ and a letter do the same where a button names one. */
export function formatBar(field) {
  const tool = (name, sign, key, act) => el("button", {
    type: "button", class: "icon", "aria-label": name, title: key ? `${name} (Ctrl or ⌘ + ${key})` : name, onclick: act,
    // The field keeps its selection.
    onmousedown: (event) => event.preventDefault(),
  }, icon(sign));
  const bar = el("div", { class: "format", role: "toolbar", "aria-label": "Formatting" },
    ...AROUND.map(([name, sign, mark, key]) => tool(name, sign, mark === "~" ? `Shift + ${key.toUpperCase()}` : key.toUpperCase(), () => surround(field, mark))),
    ...BEFORE.map(([name, sign, start]) => tool(name, sign, "", () => begin(field, start))),
    tool("Code block", "block", "", () => codeBlock(field)));
  field.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey)) return;
    const found = AROUND.find(([, , mark, key]) => key === event.key.toLowerCase() && (mark === "~") === event.shiftKey);
    if (!found) return;
    event.preventDefault();
    surround(field, found[2]);
  });
  roving(bar, "button", { keys: ["ArrowLeft", "ArrowRight"] })();
  return bar;
}
