// The left side: the rail, who one is, the channels, and whose clock the page shows.

import { show } from "./dialogs.js";
import { byId, el, safeUrl } from "./dom.js";
import { toggle as toggleFaults } from "./faults.js";
import { icon } from "./icons.js";
import { present } from "./mrkdwn.js";
import { roving } from "./roving.js";
import { nameOf, state, userOf } from "./store.js";

export const isDirect = (channel) => channel.is_im || channel.is_mpim;

export function label(channel) {
  if (!channel) return "";
  return isDirect(channel) ? channel.members.filter((id) => id !== state.me).map((id) => nameOf(userOf(id))).join(", ") : `#${channel.name}`;
}

const KEYS = [
  ["Enter", "send"], ["Shift + Enter", "new line"], ["/", "list the commands"], ["↑ ↓", "message before or after"],
  ["Alt + ↑ ↓", "channel before or after"], ["Esc", "close the thread or a dialogue"], ["Ctrl or ⌘ + Enter", "send a dialogue"],
];

export function help() {
  show("Keyboard and help", el("div", { class: "fill" },
    el("p", {}, "Type ", el("code", {}, "/docs-agent Add a quickstart for the Python SDK"), " in #docs, or mention @docs-agent where people talk. Reply in the thread to go on."),
    el("p", {}, "The page of the docs service tells which words make the agent change nothing, fail, or take long."),
    el("table", {}, el("caption", {}, "Keys"), el("tbody", {}, ...KEYS.map(([key, what]) => el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, key)), el("td", {}, what)))))));
}

/** The rail's buttons. */
export function rail() {
  const entry = (name, sign, act) => el("button", { type: "button", onclick: act }, icon(sign, 20), name);
  byId("rail").append(
    entry("Faults", "faults", (event) => toggleFaults(event.currentTarget)),
    el("a", { id: "docs-link", target: "_blank", rel: "noopener", hidden: true }, icon("docs", 20), "Docs"),
    entry("Help", "help", help));
}

const stops = ["channels", "dms"].map((id) => roving(byId(id), "button", {
  start: (items) => items.find((item) => item.getAttribute("aria-current") === "true") || items[0],
}));

export function drawSide(goTo) {
  byId("team-name").textContent = state.team.name;
  const people = [...state.users.values()].filter((user) => !user.is_bot);
  byId("me").replaceChildren(...people.map((user) => {
    const option = el("option", { value: user.id }, `${nameOf(user)}${user.title ? `, ${user.title}` : ""}`);
    option.selected = user.id === state.me;
    return option;
  }));
  const entry = (channel) => el("li", {}, el("button", {
    type: "button", "aria-current": channel.id === state.channel ? "true" : null, "data-id": channel.id, onclick: () => goTo(channel.id),
    class: [state.unread.has(channel.id) ? "unread" : "", channel.is_member ? "" : "away"].join(" "),
  }, icon(isDirect(channel) ? "people" : channel.is_private ? "lock" : "hash", 16), el("span", {}, isDirect(channel) ? label(channel) : channel.name),
  ...(state.unread.has(channel.id) ? [el("span", { class: "unseen" }, "(unread)")] : [])));
  const all = [...state.channels.values()];
  fill("channels", all.filter((one) => !isDirect(one)).map(entry));
  fill("dms", all.filter((one) => isDirect(one) && one.members.includes(state.me)).map(entry));
  stops.forEach((settle) => settle());
  byId("bot-state").textContent = state.bot.connected ? `The bot is connected (${state.bot.mode === "http" ? "HTTP" : "Socket Mode"})` : "The bot is not connected";
  const docs = safeUrl(state.links.docs_service);
  byId("docs-link").hidden = !docs;
  if (docs) byId("docs-link").href = docs;
  drawClock();
}

/** Makes these the entries; the one that had the focus keeps it. */
function fill(list, entries) {
  const held = byId(list).contains(document.activeElement) ? document.activeElement.dataset.id : null;
  byId(list).replaceChildren(...entries);
  if (held) byId(list).querySelector(`[data-id="${CSS.escape(held)}"]`)?.focus();
}

export function drawClock() {
  if (!state.me) return;
  const { time, place } = present(), name = nameOf(userOf(state.me)).split(" ")[0];
  byId("clock").textContent = `Times as ${name} sees them: ${time} in ${place}`;
}
