// The page: who one is, where one is, and what is new.

import { listen, loadState, post } from "./api.js";
import { composer } from "./composer.js";
import { notice } from "./dialogs.js";
import { byId, el } from "./dom.js";
import { offerExamples } from "./examples.js";
import * as faults from "./faults.js";
import { icon } from "./icons.js";
import { drawList, stayAtBottom } from "./messages.js";
import { drawHome } from "./home.js";
import { hideView, showView } from "./modal.js";
import { plainText } from "./mrkdwn.js";
import { roving } from "./roving.js";
import { drawClock, drawSide, help, isDirect, label, rail } from "./side.js";
import { drawSteps, threadWith } from "./steps.js";
import { changed, channelItems, dropMessage, nameOf, onChange, putEphemeral, putMessage, state, take, threadItems, userOf } from "./store.js";

let stopListening = () => {};
let loading = false;

const channelWrites = composer(() => `Message ${label(state.channels.get(state.channel))}`, () => null);
const threadWrites = composer(() => "Reply in thread", () => state.thread);
for (const [id, one] of [["composer", channelWrites], ["thread-composer", threadWrites]]) byId(id).append(one.node);
for (const [id, sign] of [["to-side", "menu"], ["close-thread", "close"]]) byId(id).append(icon(sign));
const newest = { start: (items) => items.at(-1) };
const settleMessages = roving(byId("messages"), "article", newest);
const settleReplies = roving(byId("thread-messages"), "article", newest);
for (const log of [byId("messages"), byId("thread-messages")]) stayAtBottom(log);
rail();

function keepPlace() {
  const place = new URLSearchParams({ u: state.me, c: state.channel, ...(state.thread ? { t: state.thread } : {}) });
  history.replaceState(null, "", `#${place}`);
}

function showSide(isShown) {
  byId("app").classList.toggle("side-open", isShown);
  byId("to-side").setAttribute("aria-expanded", String(isShown));
}

function goTo(channel, thread = null) {
  state.channel = channel;
  state.thread = thread;
  state.unread.delete(channel);
  showSide(false);
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

/** What a step of "Try this" does with the page. */
const page = {
  put: (text) => { goTo(state.channel); channelWrites.put(text); },
  openThread: (test, text) => {
    const root = threadWith(state.channel, test);
    if (!root) { page.put("/docs-agent Add a quickstart for the Python SDK"); return; }
    showSide(false);
    openThread(root.ts);
    if (text) threadWrites.put(text);
  },
  become: (user) => { state.thread = null; start(user); },
};

function closeThread() {
  state.thread = null;
  keepPlace();
  draw();
  channelWrites.field.focus();
}

function emptyChannel() {
  return el("p", { class: "empty" }, `Nothing has been said in ${label(state.channels.get(state.channel))} yet.`);
}

function aboutOf(channel) {
  const bot = channel.bot_is_member ? " · the bot is in here" : " · the bot is not in here";
  const shared = channel.is_ext_shared ? " · shared with another organisation" : "";
  return isDirect(channel) ? `${channel.is_im ? "Direct message" : "Group direct message"}${bot}`
    : `${channel.members.length} members${bot}${shared}${channel.topic ? ` · ${channel.topic}` : ""}`;
}

function draw() {
  const channel = state.channels.get(state.channel);
  if (!channel) return;
  drawSide(goTo);
  drawSteps(page);
  byId("channel-name").textContent = label(channel);
  byId("channel-about").textContent = aboutOf(channel);
  document.title = `${label(channel)} · Sandbox workspace`;
  channelWrites.moveTo(channel.id);
  threadWrites.moveTo(`${channel.id} ${state.thread}`);
  channelWrites.node.hidden = !channel.is_member;
  drawHome(channel);
  offerToJoin(channel);
  offerExamples(channel, channelWrites.put, threadWrites.put, openThread);
  drawList(byId("messages"), channelItems(channel.id), { openThread }, emptyChannel);
  settleMessages();
  byId("thread").hidden = !state.thread;
  byId("app").classList.toggle("with-thread", Boolean(state.thread));
  if (!state.thread) return;
  byId("thread-about").textContent = label(channel);
  drawList(byId("thread-messages"), threadItems(channel.id, state.thread), {}, () => el("p", { class: "empty" }, "This message is gone."));
  settleReplies();
}

function offerToJoin(channel) {
  const bar = byId("join");
  if (channel.is_member) bar?.remove();
  else if (!bar) {
    byId("composer").append(el("p", { id: "join" }, el("button", { type: "button", class: "button primary", onclick: () => post("join", { user: state.me, channel: state.channel }) }, "Join this channel")));
  }
}

let drawing = null, pressed = false;

function drawSoon() {
  // Many events at once are one drawing. A click on what is replaced between press and release would be lost.
  drawing ||= requestAnimationFrame(() => { drawing = null; if (!pressed) draw(); });
}

onChange(drawSoon);
addEventListener("pointerdown", () => { pressed = true; });
// The click follows the release.
for (const type of ["pointerup", "pointercancel", "blur"]) addEventListener(type, () => setTimeout(() => { pressed = false; drawSoon(); }));

function announce(message) {
  if (message.user === state.me) return;
  byId("announcer").textContent = `${nameOf(userOf(message.user))}: ${plainText(message.text)}`;
}

function takeEvent(event) {
  const seen = {
    message: () => { if (putMessage(event.message)) announce(event.message); },
    message_deleted: () => dropMessage(event.channel, event.ts),
    ephemeral: () => { putEphemeral(event.ephemeral); announce({ ...event.ephemeral, user: state.bot.user_id }); },
    view: () => showView(event.view),
    home: () => { state.homes.set(event.user, event.view); changed(); },
    view_closed: () => hideView(event.view_id),
    channel: () => { state.channels.set(event.channel.id, event.channel); changed(); },
    bot: () => { state.bot = { ...state.bot, ...event.bot }; changed(); },
    notice: () => notice(event.text),
    resync: () => start(state.me),
  };
  seen[event.type]?.();
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
    stopListening = listen(state.me, state.seq, takeEvent, (up) => { if (!up) byId("bot-state").textContent = "Connecting to the workspace…"; else drawSide(goTo); });
  } catch {
    notice("The workspace does not answer. Is the sandbox still running?");
    setTimeout(() => start(user), 2000);
  } finally {
    loading = false;
  }
}

function escape() {
  if (document.querySelector("dialog[open]")) return;
  if (faults.isOpen()) faults.close();
  else if (byId("app").classList.contains("side-open")) { showSide(false); byId("to-side").focus(); }
  else if (state.thread) closeThread();
}

document.addEventListener("keydown", (event) => {
  if (event.key === "?" && !/INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName)) { help(); return; }
  if (event.key === "Escape") { escape(); return; }
  if (event.altKey && ["ArrowDown", "ArrowUp"].includes(event.key)) {
    event.preventDefault();
    const order = [...document.querySelectorAll(".channels button")];
    const now = order.findIndex((one) => one.getAttribute("aria-current") === "true");
    order[(now + (event.key === "ArrowDown" ? 1 : order.length - 1)) % order.length]?.click();
  }
});
byId("close-thread").addEventListener("click", closeThread);
byId("to-side").addEventListener("click", () => showSide(!byId("app").classList.contains("side-open")));
byId("main").addEventListener("click", () => showSide(false));
byId("me").addEventListener("change", (event) => page.become(event.target.value));
setInterval(drawClock, 10_000);

start(new URLSearchParams(location.hash.slice(1)).get("u"));
