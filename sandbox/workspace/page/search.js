// Search over the messages that the person can see, and the way to a channel.

import { byId, el } from "./dom.js";
import { icon } from "./icons.js";
import { momentOf, plainText } from "./mrkdwn.js";
import { isReply, nameOf, state, userOf } from "./store.js";

const MOST = 20, ROOMS = 5, AROUND = 60;

/** Words to find, and `from:` and `in:` with the beginning of a name. */
function read(query) {
  const asked = { words: [], from: null, in: null };
  for (const word of query.toLowerCase().split(/\s+/).filter(Boolean)) {
    const [, key, name] = /^(from|in):[@#]?(.*)$/.exec(word) || [];
    if (key) asked[key] = name; else asked.words.push(word);
  }
  return asked;
}

const textOf = (message) => plainText(message.text).replace(/\s+/g, " ");

function messages(query, label) {
  const asked = read(query);
  if (!asked.words.length && !asked.from && !asked.in) return [];
  const fits = (message, text) => asked.words.every((word) => text.toLowerCase().includes(word))
    && (!asked.from || userOf(message.user).name.startsWith(asked.from))
    && (!asked.in || label(state.channels.get(message.channel)).replace("#", "").toLowerCase().startsWith(asked.in));
  return [...state.messages.values()].flatMap((kept) => [...kept.values()])
    .map((message) => ({ message, text: textOf(message) }))
    .filter(({ message, text }) => state.channels.has(message.channel) && fits(message, text))
    .sort((a, b) => Number(b.message.ts) - Number(a.message.ts)).slice(0, MOST)
    .map((one) => ({ ...one, word: asked.words[0] || "" }));
}

/** What stands around the word that was found. */
function excerpt(text, word) {
  const at = Math.max(text.toLowerCase().indexOf(word), 0);
  const from = at > AROUND ? text.indexOf(" ", at - AROUND) + 1 : 0;
  const cut = text.slice(from, at + word.length + 2 * AROUND);
  return [from ? "…" : "", cut.slice(0, at - from), el("mark", {}, cut.slice(at - from, at - from + word.length)), cut.slice(at - from + word.length)];
}

/** The search field. `goTo(channel, thread, ts)` opens what was found; `label` names a channel. */
export function search(goTo, label) {
  const list = el("ul", { role: "listbox", id: "found", "aria-label": "Found", hidden: true });
  const count = el("p", { class: "unseen", role: "status" });
  const field = el("input", {
    type: "search", role: "combobox", "aria-label": "Search messages and channels", "aria-expanded": "false", "aria-controls": "found",
    "aria-autocomplete": "list", placeholder: "Search messages and channels", autocomplete: "off", spellcheck: "false",
  });
  let found = [], at = 0;

  const room = (channel) => ({
    go: () => goTo(channel.id), node: [icon(channel.is_private ? "lock" : channel.is_im ? "people" : "hash", 16), el("b", {}, label(channel).replace("#", "")), el("span", { class: "small" }, channel.topic || "")],
  });
  const said = ({ message, text, word }) => ({
    go: () => goTo(message.channel, isReply(message) ? message.thread_ts : null, message.ts),
    node: [el("span", { class: "small" }, el("b", {}, nameOf(userOf(message.user))), ` in ${label(state.channels.get(message.channel))}${isReply(message) ? ", in a thread" : ""} · ${momentOf(message.ts)}`),
      el("span", { class: "excerpt" }, ...excerpt(text, word))],
  });
  const close = () => { list.hidden = true; field.setAttribute("aria-expanded", "false"); field.removeAttribute("aria-activedescendant"); };
  const choose = (number) => { const { go } = found[number]; field.value = ""; close(); go(); };
  const mark = () => {
    [...list.children].forEach((one, number) => one.setAttribute("aria-selected", String(number === at && found.length > 0)));
    if (!found.length) { field.removeAttribute("aria-activedescendant"); return; }
    field.setAttribute("aria-activedescendant", `found-${at}`);
    list.children[at].scrollIntoView({ block: "nearest" });
  };
  const show = () => {
    const query = field.value.trim();
    const rooms = [...state.channels.values()].filter((one) => !one.is_im && !one.is_mpim || one.members.includes(state.me))
      .filter((one) => label(one).toLowerCase().includes(query.toLowerCase())).slice(0, ROOMS);
    found = [...(/:/.test(query) ? [] : rooms.map(room)), ...messages(query, label).map(said)];
    at = 0;
    list.replaceChildren(...(found.length ? found.map((one, number) => el("li", { role: "option", id: `found-${number}`, onmousedown: (event) => { event.preventDefault(); choose(number); } }, ...one.node))
      : [el("li", { role: "option", "aria-disabled": "true", "aria-selected": "false" }, `Nothing found for “${query}”. Try from:ben or in:docs.`)]));
    list.hidden = false;
    field.setAttribute("aria-expanded", "true");
    count.textContent = query ? `${found.length} found` : "";
    mark();
  };
  field.addEventListener("input", show);
  field.addEventListener("focus", show);
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    if (["ArrowDown", "ArrowUp"].includes(event.key) && found.length) {
      event.preventDefault();
      if (list.hidden) show();
      else at = (at + (event.key === "ArrowDown" ? 1 : found.length - 1)) % found.length;
      mark();
    } else if (event.key === "Enter" && found.length && !list.hidden) {
      event.preventDefault();
      choose(at);
    } else if (event.key === "Escape") {
      event.stopPropagation();
      if (list.hidden || !field.value) field.blur();
      field.value = "";
      close();
    }
  });
  byId("search").append(icon("search"), field, el("kbd", { "aria-hidden": true }, "Ctrl K"), list, count);
  return field;
}
