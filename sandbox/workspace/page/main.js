// The page: who one is, where one is, and what is new.

import { notice } from "./act.js";
import { listen, loadState, post } from "./api.js";
import { composer } from "./composer.js";
import { byId, el, safeUrl } from "./dom.js";
import { drawList } from "./messages.js";
import { hideView, showView } from "./modal.js";
import { plainText } from "./mrkdwn.js";
import { changed, channelItems, dropEphemeral, dropMessage, nameOf, onChange, putEphemeral, putMessage, state, take, threadItems, userOf } from "./store.js";

const FIRST = "/docs-agent Add a quickstart for the Python SDK";
let stopListening = () => {};
let loading = false;

const channelWrites = composer(() => `Message ${label(state.channels.get(state.channel))}`, () => null);
const threadWrites = composer(() => "Reply in thread", () => state.thread);
byId("composer").append(channelWrites.node);
byId("thread-composer").append(threadWrites.node);

function label(channel) {
  if (!channel) return "";
  return isDirect(channel) ? others(channel).map((id) => nameOf(userOf(id))).join(", ") : `#${channel.name}`;
}

const isDirect = (channel) => channel.is_im || channel.is_mpim;
const others = (channel) => channel.members.filter((id) => id !== state.me);

function keepPlace() {
  const place = new URLSearchParams({ u: state.me, c: state.channel, ...(state.thread ? { t: state.thread } : {}) });
  history.replaceState(null, "", `#${place}`);
}

function goTo(channel, thread = null) {
  state.channel = channel;
  state.thread = thread;
  state.unread.delete(channel);
  byId("app").classList.remove("side-open");
  keepPlace();
  draw();
  byId("messages").scrollTop = byId("messages").scrollHeight;
  if (!thread) channelWrites.field.focus({ preventScroll: true });
}

function openThread(ts) {
  state.thread = ts;
  keepPlace();
  draw();
  byId("thread-messages").scrollTop = byId("thread-messages").scrollHeight;
  threadWrites.field.focus();
}

function closeThread() {
  state.thread = null;
  keepPlace();
  draw();
  channelWrites.field.focus();
}

function drawSide() {
  byId("team-name").textContent = state.team.name;
  const people = [...state.users.values()].filter((user) => !user.is_bot);
  byId("me").replaceChildren(...people.map((user) => {
    const option = el("option", { value: user.id }, `${nameOf(user)}${user.title ? `, ${user.title}` : ""}`);
    option.selected = user.id === state.me;
    return option;
  }));
  const entry = (channel) => el("li", {}, el("button", {
    type: "button", "aria-current": String(channel.id === state.channel), onclick: () => goTo(channel.id),
    class: [state.unread.has(channel.id) ? "unread" : "", channel.is_member ? "" : "away"].join(" "),
  }, el("span", { "aria-hidden": true }, isDirect(channel) ? "●" : channel.is_private ? "🔒" : "#"), isDirect(channel) ? label(channel) : channel.name));
  const all = [...state.channels.values()];
  byId("channels").replaceChildren(...all.filter((one) => !isDirect(one)).map(entry));
  byId("dms").replaceChildren(...all.filter((one) => isDirect(one) && one.members.includes(state.me)).map(entry));
  byId("bot-state").textContent = state.bot.connected ? `The bot is connected (${state.bot.mode === "http" ? "HTTP" : "Socket Mode"})` : "The bot is not connected";
  const docs = safeUrl(state.links.docs_service);
  byId("docs-link").hidden = !docs;
  if (docs) byId("docs-link").href = docs;
}

function emptyChannel() {
  return el("div", { class: "empty" }, el("p", {}, `Nothing has been said in ${label(state.channels.get(state.channel))} yet.`),
    el("p", {}, "Ask the docs agent for something:"), el("p", {}, el("button", { type: "button", class: "button primary", onclick: () => channelWrites.put(FIRST) }, FIRST)));
}

function draw() {
  const channel = state.channels.get(state.channel);
  if (!channel) return;
  drawSide();
  byId("channel-name").textContent = label(channel);
  const bot = channel.bot_is_member ? " · the bot is in here" : " · the bot is not in here";
  const shared = channel.is_ext_shared ? " · shared with another organisation" : "";
  byId("channel-about").textContent = isDirect(channel) ? `${channel.is_im ? "Direct message" : "Group direct message"}${bot}`
    : `${channel.members.length} members${bot}${shared}${channel.topic ? ` · ${channel.topic}` : ""}`;
  document.title = `${label(channel)} · Sandbox workspace`;
  channelWrites.relabel();
  channelWrites.node.hidden = !channel.is_member;
  let joinBar = byId("join");
  if (!channel.is_member && !joinBar) {
    joinBar = el("p", { id: "join" }, el("button", { type: "button", class: "button primary", onclick: async () => { await post("join", { user: state.me, channel: state.channel }); } }, "Join this channel"));
    byId("composer").append(joinBar);
  } else if (channel.is_member) joinBar?.remove();
  drawList(byId("messages"), channelItems(channel.id), { openThread }, emptyChannel);
  byId("thread").hidden = !state.thread;
  byId("app").classList.toggle("with-thread", Boolean(state.thread));
  if (state.thread) {
    byId("thread-about").textContent = label(channel);
    drawList(byId("thread-messages"), threadItems(channel.id, state.thread), {}, () => el("p", { class: "empty" }, "This message is gone."));
  }
}

let drawing = null;
onChange(() => {
  // Many events at once are one drawing.
  drawing ||= requestAnimationFrame(() => { drawing = null; draw(); });
});

function announce(message) {
  if (message.user === state.me) return;
  byId("announcer").textContent = `${nameOf(userOf(message.user))}: ${plainText(message.text)}`;
}

function take_event(event) {
  const seen = {
    message: () => { if (putMessage(event.message)) announce(event.message); },
    message_deleted: () => dropMessage(event.channel, event.ts),
    ephemeral: () => { putEphemeral(event.ephemeral); announce({ ...event.ephemeral, user: state.bot.user_id }); },
    ephemeral_deleted: () => dropEphemeral(event.id),
    view: () => showView(event.view),
    view_closed: () => hideView(event.view_id),
    channel: () => { state.channels.set(event.channel.id, event.channel); changed("channels"); },
    bot: () => { state.bot = { ...state.bot, ...event.bot }; changed("bot"); },
    notice: () => notice(event.text),
    channel_id_changed: () => moveTo(event.old, event.new),
    resync: () => start(state.me),
  };
  seen[event.type]?.();
}

/** A channel has another id: show it under that one. */
function moveTo(old, now) {
  if (state.channel === old) { state.channel = now; keepPlace(); }
  start(state.me);
}

async function start(user) {
  if (loading) return;
  loading = true;
  stopListening();
  try {
    const loaded = await loadState(user);
    take(loaded);
    loaded.views.forEach(showView);
    const place = new URLSearchParams(location.hash.slice(1));
    const wanted = state.channels.has(place.get("c")) ? place.get("c") : state.channels.keys().next().value;
    goTo(wanted, wanted === place.get("c") ? place.get("t") : null);
    stopListening = listen(state.me, state.seq, take_event, (up) => { if (!up) byId("bot-state").textContent = "Connecting to the workspace…"; else drawSide(); });
  } catch {
    notice("The workspace does not answer. Is the sandbox still running?");
    setTimeout(() => start(user), 2000);
  } finally {
    loading = false;
  }
}

function palette() {
  const box = byId("palette");
  const rooms = [...state.channels.values()].filter((one) => !isDirect(one) || one.members.includes(state.me));
  const list = el("ul", { class: "channels" });
  const field = el("input", { type: "text", "aria-label": "Go to channel", placeholder: "Go to…" });
  const fill = () => list.replaceChildren(...rooms.filter((one) => label(one).toLowerCase().includes(field.value.toLowerCase())).map((one) =>
    el("li", {}, el("button", { type: "button", onclick: () => { box.close(); goTo(one.id); } }, label(one)))));
  field.addEventListener("input", fill);
  field.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); list.querySelector("button")?.click(); } });
  fill();
  box.replaceChildren(el("div", { class: "fill", style: "padding:16px" }, field, list));
  box.showModal();
}

function help() {
  const box = byId("palette");
  const keys = [["Enter", "send"], ["Shift + Enter", "new line"], ["/", "list the commands"], ["Alt + ↑ ↓", "channel before or after"], ["Ctrl or ⌘ + K", "go to a channel"], ["Esc", "close the thread or a dialogue"], ["Ctrl or ⌘ + Enter", "send a dialogue"]];
  box.replaceChildren(el("div", { class: "fill", style: "padding:16px" }, el("h2", {}, "Keyboard and help"),
    el("p", {}, `Type ${FIRST} in #docs. Reply in its thread to go on. The page of the docs service tells which words make the agent change nothing, fail, or take long.`),
    el("table", {}, ...keys.map(([key, what]) => el("tr", {}, el("td", {}, el("code", {}, key)), el("td", {}, what)))),
    el("p", {}, el("button", { type: "button", class: "button", onclick: () => box.close() }, "Close"))));
  box.showModal();
}

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") { event.preventDefault(); palette(); return; }
  if (event.key === "?" && !/INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName)) { help(); return; }
  if (event.key === "Escape" && state.thread && !document.querySelector("dialog[open]")) { closeThread(); return; }
  if (event.altKey && ["ArrowDown", "ArrowUp"].includes(event.key)) {
    event.preventDefault();
    const order = [...document.querySelectorAll(".channels button")];
    const now = order.findIndex((one) => one.getAttribute("aria-current") === "true");
    order[(now + (event.key === "ArrowDown" ? 1 : order.length - 1)) % order.length]?.click();
  }
});
byId("close-thread").addEventListener("click", closeThread);
byId("to-side").addEventListener("click", () => byId("app").classList.toggle("side-open"));
byId("main").addEventListener("click", (event) => { if (!event.target.closest("#to-side")) byId("app").classList.remove("side-open"); });
byId("help-button").addEventListener("click", help);
byId("me").addEventListener("change", (event) => { state.thread = null; start(event.target.value); });

start(new URLSearchParams(location.hash.slice(1)).get("u"));
