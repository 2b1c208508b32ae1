// The drawer of faults: what goes wrong between Slack, the bot and the docs service, at a press.

import { post } from "./api.js";
import { notice } from "./dialogs.js";
import { byId, el } from "./dom.js";
import { icon } from "./icons.js";
import { state } from "./store.js";

const OF_SLACK = [
  ["Next post fails", "Slack answers with an error, and nothing is posted.", { method: "chat.postMessage", fault: "500" }],
  ["Next post: answer lost", "Slack posts, but the bot is not told.", { method: "chat.postMessage", fault: "lost_answer" }],
  ["Next post: too fast", "Slack tells the bot to wait for ten seconds.", { method: "chat.postMessage", fault: "429", seconds: 10 }],
  ["Next form does not open", "Slack refuses the bot's form.", { method: "views.open", fault: "error:internal_error" }],
  ["Next form stays empty", "Slack refuses its content, which comes in a moment.", { method: "views.update", fault: "error:internal_error" }],
  ["Five calls fail", "Slack answers five calls with a page of HTML.", { method: "*", fault: "502_html", times: 5 }],
];
const OF_DOCS = [
  ["Next job fails to start", "The docs service answers with an error.", { match: "create", fault: "500" }],
  ["Next job: answer lost", "The job starts, but the bot is not told.", { match: "create", fault: "lost_answer" }],
  ["Next follow-up: answer lost", "It is taken, but the bot is not told.", { match: "follow_up", fault: "lost_answer" }],
  ["Hourly limit is reached", "The next job has to wait for half a minute.", { match: "create", fault: "429", seconds: 30 }],
  ["Key is refused, three times", "As if the key had expired.", { match: "any", fault: "401", times: 3 }],
  ["Next state is unknown", "A job has a state that is in no document.", { match: "get", fault: "odd_status" }],
  ["Next preview does not build", "Its build fails, with a log.", { match: "preview", fault: "broken_build" }],
  ["Next answer breaks off", "The assistant's stream ends in its middle.", { match: "answer", fault: "cut_answer" }],
  ["Slow answers, five times", "Each takes five seconds.", { match: "any", fault: "slow", times: 5 }],
];

/** The words of the button that orders such a fault; what a program ordered has none. */
function nameOf({ match, fault }) {
  const found = [...OF_SLACK, ...OF_DOCS].find(([, , order]) => (order.method || order.match) === match && order.fault === fault);
  return found ? found[0] : `${match}: ${fault}`;
}

const drawer = byId("faults");
let opener = null;
const waiting = el("ul", { class: "waiting" });
const said = el("p", { class: "small", role: "status" });
const forget = el("button", { type: "button", class: "button", hidden: true, onclick: async () => tell(await post("calm", {})) }, "Forget them");

function tell(answer) {
  if (!answer.ok) { notice(answer.detail || answer.error); return; }
  const left = (fault) => (fault.times > 1 ? ` (${fault.times} left)` : "");
  waiting.replaceChildren(...answer.waiting.map((fault) => el("li", {}, nameOf(fault) + left(fault))));
  said.textContent = answer.waiting.length ? "Still to come:" : "No fault is set.";
  forget.hidden = !answer.waiting.length;
}

const choice = ([name, about, order]) => el("button", { type: "button", class: "fault", onclick: async () => tell(await post("fault", order)) },
  el("b", {}, name), el("span", { class: "small" }, about));

export const isOpen = () => !drawer.hidden;

export function close() {
  drawer.hidden = true;
  opener?.focus();
}

/** Opens the drawer, or closes it; `from` gets the focus back. */
export async function toggle(from) {
  if (isOpen()) { close(); return; }
  opener = from;
  const hangUp = el("button", { type: "button", class: "fault", onclick: async () => tell(await post("hang_up", {})) },
    el("b", {}, "Bot's connection breaks"), el("span", { class: "small" }, "Its socket is closed without a warning."));
  const group = (name, ...buttons) => [el("h3", {}, name), el("div", { class: "fault-list" }, ...buttons)];
  drawer.replaceChildren(
    el("header", { class: "bar" }, el("div", { class: "bar-text" }, el("h2", {}, "Faults"), el("p", {}, "Break something, and see what the bot says.")),
      el("button", { type: "button", class: "icon", "aria-label": "Close faults", onclick: close }, icon("close"))),
    el("div", { class: "ordered" }, said, waiting, forget),
    el("div", { class: "fill", tabindex: "0", role: "group", "aria-label": "Faults to order" },
      ...group("Slack", ...OF_SLACK.map(choice), hangUp),
      ...(state.links.docs_service ? group("Docs service", ...OF_DOCS.map(choice)) : [])));
  drawer.hidden = false;
  drawer.querySelector("button").focus();
  tell(await post("faults", {}));
}
