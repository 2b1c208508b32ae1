// "Try this": a list of first steps beside the channels. Each ticks itself once it is done, and stays.

import { byId, el } from "./dom.js";
import { toggle as toggleFaults } from "./faults.js";
import { changed, channelItems, repliesOf, state } from "./store.js";

const isByBot = (message) => Boolean(message.bot_id);
const root = (body) => state.messages.get(body.channel)?.get(body.thread_ts);
const inThread = (body, test) => body.thread_ts && root(body) && [root(body), ...repliesOf(body.channel, body.thread_ts)].some(test);
const guest = () => [...state.users.values()].find((user) => user.is_guest);

/** Name, what doing it looks like to the workspace, and what pressing the entry does with the page. */
const STEPS = [
  ["ask", "Ask for a page", ({ path, body }) => path === "command" && body.command === "/docs-agent" && body.text,
    (page) => page.put("/docs-agent Add a quickstart for the Python SDK")],
  ["steer", "Reply in its thread to change it", ({ path, body }) => path === "message" && inThread(body, isByBot) && !body.text.includes("@docs-agent"),
    (page) => page.openThread(isByBot, "Mention Python 3.11 too")],
  ["thread", "Have a mistake fixed where people talk of it", ({ path, body }) => path === "message" && body.thread_ts && body.text.includes("@docs-agent"),
    (page) => page.openThread((one) => !isByBot(one), "@docs-agent fix the page please")],
  ["question", "Ask the docs, and say that it didn't help", ({ path, body }) => path === "action" && body.action.action_id === "did_not_help",
    (page) => page.put("@docs-agent How do I rotate an API key?")],
  ["preview", "Press Preview under an end", ({ path, body }) => path === "action" && body.action.action_id === "preview", (page) => page.openThread(isByBot, "")],
  ["digest", "Get the weekly digest now", ({ path, body }) => path === "command" && body.command === "/docs-visitors",
    (page) => page.put("/docs-visitors digest now")],
  ["guest", "Be Gus, a guest, and ask", ({ path, body }) => path === "command" && body.user === guest()?.id, (page) => page.become(guest().id)],
  ["fault", "Break something", ({ path }) => path === "fault" || path === "hang_up", (page, from) => toggleFaults(from)],
];

const done = () => new Set((localStorage.steps || "").split(" "));

// The request has been made by then, and the workspace took it.
addEventListener("posted", ({ detail }) => {
  const now = STEPS.filter(([, , isDone]) => isDone(detail)).map(([name]) => name);
  if (!now.length) return;
  localStorage.steps = [...new Set([...done(), ...now])].join(" ");
  changed();
});

/** Returns the newest message of a channel that has replies and fits. */
export const threadWith = (channel, test) => channelItems(channel).findLast((one) => !one.ephemeral && test(one) && repliesOf(channel, one.ts).length);

/** Draws the list. `page` has the acts: put, openThread and become. */
export function drawSteps(page) {
  const ticked = done(), key = `${state.me} ${[...ticked]}`, box = byId("steps");
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  const count = STEPS.filter(([name]) => ticked.has(name)).length;
  byId("steps-head").textContent = `Try this · ${count} of ${STEPS.length}`;
  box.replaceChildren(...STEPS.map(([name, label, , act]) => el("li", {}, el("button", {
    type: "button", class: ticked.has(name) ? "done" : "", onclick: (event) => act(page, event.currentTarget),
  }, el("span", { class: "tick", "aria-hidden": true }, ticked.has(name) ? "✓" : "○"), el("span", {}, label),
  ...(ticked.has(name) ? [el("span", { class: "unseen" }, "(done)")] : [])))));
}
