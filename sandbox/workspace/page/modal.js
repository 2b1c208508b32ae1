// The bot's dialogues.

import { post } from "./api.js";
import { drawAll } from "./blocks.js";
import { open as openDialog } from "./dialogs.js";
import { byId, el } from "./dom.js";
import { readFields } from "./elements.js";
import { icon } from "./icons.js";
import { state } from "./store.js";

let open = null;

/** Shows a view. */
export function showView(view) {
  const box = byId("modal");
  const context = { container: { type: "view", id: view.id }, fields: new Map() };
  open = view.id;
  const error = el("p", { class: "error", role: "alert" });
  const form = el("form", {
    onsubmit: (event) => { event.preventDefault(); submit(view, context.fields, error); },
    onkeydown: (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); form.requestSubmit(); } },
  },
    el("header", {}, el("h2", {}, view.title.text), el("button", { type: "button", class: "icon", "aria-label": "Close", onclick: () => close(view) }, icon("close"))),
    el("div", { class: "fill" }, ...drawAll(view.blocks, context), error),
    el("footer", {}, el("button", { type: "button", class: "button", onclick: () => close(view) }, view.close?.text || "Close"),
      ...(view.submit ? [el("button", { type: "submit", class: "button primary" }, view.submit.text)] : [])));
  box.replaceChildren(form);
  box.setAttribute("aria-label", view.title.text);
  if (!box.open) openDialog(box);
  (box.querySelector("[autofocus]") || box.querySelector("textarea, input, select"))?.focus();
}

async function submit(view, fields, error) {
  error.textContent = "";
  let missing = false;
  for (const [block, field] of fields) {
    const empty = Object.values(field.read()).every((value) => value === null || value === undefined || value.length === 0);
    const bad = empty && !field.optional;
    mark(block, bad ? "Please complete this field." : "");
    missing ||= bad;
  }
  if (missing) return;
  const answer = await post("view_submit", { user: state.me, view_id: view.id, state: { values: readFields(fields) } });
  if (answer.ok) return;
  for (const [block, text] of Object.entries(answer.errors || {})) mark(block, text);
  if (!answer.errors) error.textContent = answer.detail || answer.error;
}

function mark(block, text) {
  const line = byId("modal").querySelector(`[data-block="${CSS.escape(block)}"] .error`);
  if (!line) return;
  line.textContent = text;
  line.hidden = !text;
}

function close(view) {
  post("view_close", { user: state.me, view_id: view.id });
  hideView(view.id);
}

export function hideView(id) {
  if (open !== id) return;
  open = null;
  byId("modal").close();
}

byId("modal").addEventListener("cancel", () => { if (open) { post("view_close", { user: state.me, view_id: open }); open = null; } });
