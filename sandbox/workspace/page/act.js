// What a person does with an element, told to the bot; and the page's own small questions and notices.

import { post } from "./api.js";
import { byId, el } from "./dom.js";
import { state } from "./store.js";

export function notice(text) {
  const line = el("p", {}, text);
  byId("notices").append(line);
  setTimeout(() => line.remove(), 6000);
}

/** A yes-or-no question as a dialogue; resolves to whether it was yes. */
export function ask(title, text, yes, no) {
  return new Promise((resolve) => {
    const box = el("dialog", { class: "modal", "aria-label": title },
      el("form", { method: "dialog" },
        el("header", {}, el("h2", {}, title)), el("div", { class: "fill" }, el("p", {}, text)),
        el("footer", {}, el("button", { class: "button", value: "no" }, no), el("button", { class: "button primary", value: "yes" }, yes))));
    box.addEventListener("close", () => { resolve(box.returnValue === "yes"); box.remove(); });
    document.body.append(box);
    box.showModal();
  });
}

export async function act(context, action) {
  const values = context.fields ? readFields(context.fields) : chosen(action);
  const answer = await post("action", { user: state.me, container: context.container, action, state: values });
  if (!answer.ok && answer.detail) notice(answer.detail);
  else if (!answer.ok) notice(`That did not work: ${answer.error}`);
}

/** What was chosen in a message, as `state.values` tells it beside the action. */
function chosen({ type, action_id, block_id, ...value }) {
  return type === "button" ? {} : { [block_id]: { [action_id]: { type, ...value } } };
}

/** What stands in a dialogue's inputs, as `state.values`. */
export function readFields(fields) {
  const values = {};
  for (const [block, field] of fields) values[block] = { [field.action]: { type: field.type, ...field.read() } };
  return values;
}
