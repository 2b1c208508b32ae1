// One message, and lists of them.

import { post } from "./api.js";
import { drawAll } from "./blocks.js";
import { fileCard } from "./cards.js";
import { askText, notice } from "./dialogs.js";
import { el } from "./dom.js";
import { icon } from "./icons.js";
import { clockOf, dayOf, emoji, momentOf, mrkdwn } from "./mrkdwn.js";
import { nameOf, repliesOf, state, userOf } from "./store.js";

function avatar(user) {
  if (user.is_bot) return el("div", { class: "avatar", "aria-hidden": true }, el("img", { src: "/static/icon.svg", alt: "" }));
  const initials = nameOf(user).split(/\s+/).map((word) => word[0]).slice(0, 2).join("");
  return el("div", { class: "avatar", style: `background:${/^#[0-9a-f]{6}$/i.test(user.color) ? user.color : "#777"}`, "aria-hidden": true }, initials);
}

function reactions(message) {
  const toggle = (name) => post("reaction", { user: state.me, channel: message.channel, ts: message.ts, name });
  return el("div", { class: "reactions" }, ...message.reactions.map((one) => el("button", {
    type: "button", class: one.users.includes(state.me) ? "mine" : "", title: one.users.map((id) => nameOf(userOf(id))).join(", "),
    "aria-label": `${one.name}, ${one.users.length}`, onclick: () => toggle(one.name),
  }, `${emoji(one.name)} ${one.users.length}`)));
}

async function change(message) {
  const text = await askText("Edit message", "Your message", message.text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&"));
  if (text !== null && text.trim()) await post("edit", { user: state.me, channel: message.channel, ts: message.ts, text });
}

function tools(message, actions) {
  const where = { user: state.me, channel: message.channel, ts: message.ts };
  const tool = (label, sign, onclick) => el("button", { type: "button", class: "icon", "aria-label": label, title: label, onclick }, icon(sign));
  const shortcuts = state.shortcuts.filter((one) => one.type === "message").map((one) => tool(one.name, "spark", async () => {
    const answer = await post("shortcut", { ...where, callback_id: one.callback_id });
    if (!answer.ok) notice(answer.detail || answer.error);
  }));
  const own = message.user === state.me ? [tool("Edit message", "edit", () => change(message)), tool("Delete message", "trash", () => post("delete", where))] : [];
  const reply = actions.openThread ? [tool("Reply in thread", "reply", () => actions.openThread(message.thread_ts || message.ts))] : [];
  return el("div", { class: "tools" }, tool("React with eyes", "eye", () => post("reaction", { ...where, name: "eyes" })),
    tool("React with thumbs up", "thumb", () => post("reaction", { ...where, name: "thumbsup" })), ...reply, ...shortcuts, ...own);
}

function replies(message, actions) {
  const all = repliesOf(message.channel, message.ts);
  if (!all.length || !actions.openThread) return [];
  const count = `${all.length} ${all.length === 1 ? "reply" : "replies"}`;
  const people = [...new Map(all.map((one) => [one.user, userOf(one.user)])).values()].slice(0, 4);
  return [el("button", { type: "button", class: "replies", onclick: () => actions.openThread(message.ts) },
    el("span", { class: "faces", "aria-hidden": true }, ...people.map(avatar)), count, el("span", { class: "small" }, `last ${momentOf(all.at(-1).ts)}`))];
}

function messageNode(message, follows, actions) {
  const user = userOf(message.ephemeral ? state.bot.user_id : message.user);
  const context = { container: message.ephemeral ? { type: "ephemeral", channel: message.channel, id: message.id } : { type: "message", channel: message.channel, ts: message.ts } };
  const body = message.blocks?.length ? drawAll(message.blocks, context) : message.text ? mrkdwn(message.text) : [];
  const who = el("div", { class: "who" }, el("b", {}, nameOf(user)), ...(user.is_bot ? [el("span", { class: "app-tag" }, "APP")] : []),
    time(message));
  return el("article", { class: `message${follows ? " follows" : ""}${message.ephemeral ? " only-you" : ""}`, "data-ts": message.ts, tabindex: "-1", "aria-label": `${nameOf(user)}, ${clockOf(message.ts)}` },
    follows ? el("div", { class: "beside" }, time(message)) : avatar(user),
    el("div", { class: "said" }, ...(follows ? [] : [who]), ...(message.ephemeral ? [el("p", { class: "eye" }, icon("eye", 14), " Only visible to you")] : []),
      el("div", { class: "body" }, ...body, ...(message.edited ? [el("span", { class: "small" }, " (edited)")] : [])),
      ...(message.files || []).map(fileCard), ...(message.reactions?.length ? [reactions(message)] : []), ...replies(message, actions)),
    ...(message.ephemeral ? [] : [tools(message, actions)]));
}

function time(message) {
  const at = new Date(Number(message.ts) * 1000).toISOString();
  return el("time", { datetime: at, title: `${dayOf(message.ts)}, in ${nameOf(userOf(state.me))}’s time zone` }, clockOf(message.ts));
}

/** What a list shows, by log: drawn again only where it changed, so that an open menu or a sorted table stays. */
const drawn = new WeakMap();

function once(before, now, key, version, make) {
  const known = before.get(key);
  const entry = known?.version === version ? known : { version, node: make() };
  now.set(key, entry);
  return entry.node;
}

/** Draws a list, keeping the scroll at the bottom when it was there. */
export function drawList(log, items, actions, empty) {
  const atBottom = log.scrollHeight - log.scrollTop - log.clientHeight < 60;
  const held = document.activeElement && log.contains(document.activeElement) ? keyOf(document.activeElement) : null;
  const before = drawn.get(log) || new Map(), now = new Map(), made = [];
  let day = null, last = null;
  for (const item of items) {
    if (dayOf(item.ts) !== day) {
      day = dayOf(item.ts);
      made.push(once(before, now, `day ${day}`, "", () => el("div", { class: "day" }, el("h2", {}, day))));
      last = null;
    }
    const follows = last && last.user === item.user && !item.ephemeral && !last.ephemeral && Number(item.ts) - Number(last.ts) < 300 && !item.bot_id;
    const under = actions.openThread ? repliesOf(item.channel, item.ts) : [];
    const version = JSON.stringify([item, follows, under.length, under.at(-1)?.ts, state.me, state.users.size, state.channels.size]);
    made.push(once(before, now, item.id || item.ts, version, () => messageNode(item, follows, actions)));
    last = item;
  }
  drawn.set(log, now);
  log.classList.toggle("bare", made.length === 0);
  settle(log, made.length ? made : [empty()]);
  if (atBottom) log.scrollTop = log.scrollHeight;
  if (held && !log.contains(document.activeElement)) log.querySelector(held)?.focus();
}

/** Keeps the newest message in view when the window or the column gets another size. */
export function stayAtBottom(log) {
  let wasAtBottom = true, size = "";
  const measure = () => `${log.clientWidth} ${log.clientHeight}`;
  // With another size the browser scrolls by itself, before it tells of the size.
  log.addEventListener("scroll", () => { if (size === measure()) wasAtBottom = log.scrollHeight - log.scrollTop - log.clientHeight < 60; });
  new ResizeObserver(() => { size = measure(); if (wasAtBottom) log.scrollTop = log.scrollHeight; }).observe(log);
}

/** Makes these the children; those that are there already are not touched, as that would take their focus. */
function settle(log, wanted) {
  const staying = new Set(wanted);
  for (const child of [...log.children]) if (!staying.has(child)) child.remove();
  wanted.forEach((node, at) => { if (log.children[at] !== node) log.insertBefore(node, log.children[at] || null); });
}

function keyOf(element) {
  const ts = element.closest("[data-ts]")?.dataset.ts;
  if (ts && element.dataset.ts) return `[data-ts="${ts}"]`;
  const label = element.getAttribute("aria-label");
  return ts && label ? `[data-ts="${ts}"] [aria-label="${CSS.escape(label)}"]` : null;
}
