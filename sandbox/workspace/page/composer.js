// Where people type: messages, commands with hints, names to complete.

import { post } from "./api.js";
import { ask, notice } from "./dialogs.js";
import { el } from "./dom.js";
import { noteAsked } from "./examples.js";
import { icon } from "./icons.js";
import { changed, nameOf, state, userOf } from "./store.js";

const OWN_COMMANDS = [{ command: "/invite", usage_hint: "@docs-agent", description: "Bring somebody into this channel" }];
let made = 0;

function choices(text, inThread) {
  if (!inThread && /^\/[\w-]*$/.test(text)) {
    return [...state.commands, ...OWN_COMMANDS]
      .filter((one) => one.command.startsWith(text.trim()))
      .map((one) => ({ insert: `${one.command} `, replace: text.length, shown: `${one.command} ${one.usage_hint || ""}`, about: one.description }));
  }
  const word = /(?:^|\s)([@#][\w.-]*)$/.exec(text)?.[1];
  if (!word) return [];
  const start = word.slice(1).toLowerCase();
  const found = word[0] === "@"
    ? [...[...state.users.values()].map((user) => ({ name: user.name, about: nameOf(user) })),
      ...Object.values(state.groups).map((name) => ({ name, about: "User group" }))]
    : [...state.channels.values()].filter((channel) => !channel.is_im && !channel.is_mpim).map((channel) => ({ name: channel.name, about: channel.topic }));
  return found.filter((one) => one.name.startsWith(start)).slice(0, 8)
    .map((one) => ({ insert: `${word[0]}${one.name} `, replace: word.length, shown: word[0] + one.name, about: one.about }));
}

async function send(text, threadTs, files) {
  const where = { user: state.me, channel: state.channel };
  const command = /^(\/[\w-]+)(?:\s+([\s\S]*))?$/.exec(text.trim());
  if (command && threadTs) {
    notice(`${command[1]} is not supported in threads. Sorry!`);
    return false;
  }
  if (command?.[1] === "/invite") return told(await post("invite", { ...where, invitee: command[2] || "" }));
  if (command) {
    const answer = await post("command", { ...where, command: command[1], text: command[2] || "" });
    // The workspace says itself what went wrong with a command.
    return answer.error === "unreachable" ? told(answer) : answer.error !== "unknown_command";
  }
  const answer = await post("message", { ...where, text, thread_ts: threadTs || undefined, files });
  if (answer.ok) offerToInvite(where, text);
  return told(answer);
}

/** Slack asks to invite whoever is mentioned in a channel that they are not in; they do not hear of it. */
async function offerToInvite(where, text) {
  const bot = userOf(state.bot.user_id).name, channel = state.channels.get(where.channel);
  const isCalled = text.split(/[\s,:]+/).includes(`@${bot}`);
  if (!isCalled || channel.bot_is_member || channel.is_im || channel.is_mpim) return;
  const said = `@${bot} is not in #${channel.name}, so it did not hear you. Invite it, then mention it again.`;
  if (await ask(`Invite @${bot}?`, said, "Invite", "Do nothing")) told(await post("invite", { ...where, invitee: bot }));
}

function told(answer) {
  if (!answer.ok) notice(answer.detail || `That did not work: ${answer.error}`);
  return answer.ok;
}

/** A composer. When they are asked, `label` tells its name, and `threadTs` whether it writes into a thread. */
export function composer(label, threadTs) {
  const id = `suggestions-${made += 1}`;
  const list = el("ul", { role: "listbox", id, "aria-label": "Suggestions" });
  const hints = el("div", { class: "hints", hidden: true }, list);
  const field = el("textarea", { rows: 1, "aria-label": label(), placeholder: label(), autocomplete: "off", "aria-autocomplete": "list", "aria-controls": id });
  // A field of several lines cannot be a combobox itself: https://www.w3.org/TR/html-aria/#el-textarea
  const combobox = el("div", { role: "combobox", "aria-label": "Text with suggestions", "aria-haspopup": "listbox", "aria-expanded": "false", "aria-controls": id }, field);
  let offered = [], at = 0, place = null, attached = [];

  const show = () => {
    offered = choices(field.value.slice(0, field.selectionStart), Boolean(threadTs()));
    at = Math.min(at, Math.max(offered.length - 1, 0));
    list.replaceChildren(...offered.map((one, number) =>
      el("li", { role: "option", id: `${id}-${number}`, "aria-selected": String(number === at), onmousedown: (event) => { event.preventDefault(); take(number); } }, one.shown, el("small", {}, one.about || ""))));
    reveal(offered.length > 0);
  };
  const reveal = (isOpen) => {
    hints.hidden = !isOpen;
    combobox.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) { field.removeAttribute("aria-activedescendant"); return; }
    field.setAttribute("aria-activedescendant", `${id}-${at}`);
    list.children[at].scrollIntoView({ block: "nearest" });
  };
  const isTyped = (one) => field.value.slice(0, field.selectionStart).endsWith(one.insert.trim());
  const take = (number) => {
    const one = offered[number];
    const end = field.selectionStart;
    field.setRangeText(one.insert, end - one.replace, end, "end");
    field.focus();
    grow();
    show();
  };
  const grow = () => { field.style.height = "auto"; field.style.height = `${field.scrollHeight}px`; };
  const put = (text) => { field.value = text; grow(); };
  const submit = async () => {
    const text = field.value, from = place, files = attached;
    if (!text.trim() && !files.length) return;
    put("");
    show();
    attach([]);
    if (await send(text, threadTs(), files)) { noteAsked(text); changed(); return; }
    if (!attached.length) attach(files);
    if (from === place) put(field.value || text);
  };
  field.addEventListener("input", () => { grow(); at = 0; show(); });
  field.addEventListener("blur", () => reveal(false));
  field.addEventListener("keydown", (event) => {
    const open = !hints.hidden;
    if (open && ["ArrowDown", "ArrowUp"].includes(event.key)) {
      event.preventDefault();
      at = (at + (event.key === "ArrowDown" ? 1 : offered.length - 1)) % offered.length;
      show();
    } else if (open && (event.key === "Tab" || (event.key === "Enter" && !isTyped(offered[at])))) {
      event.preventDefault();
      take(at);
    } else if (open && event.key === "Escape") {
      event.stopPropagation();
      reveal(false);
    } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      submit();
    }
  });
  const names = el("span", { class: "small", role: "status" });
  const attach = (files) => {
    attached = files;
    names.textContent = files.map((file) => file.name).join(", ");
  };
  const picker = el("input", { type: "file", multiple: true, hidden: true, "aria-label": "Files", onchange: async () => {
    const files = [...picker.files];
    attach(await Promise.all(files.map(async (file) => ({ name: file.name, content: await file.text() }))));
    picker.value = "";
  } });
  const box = el("div", { class: "composer" }, combobox,
    el("div", { class: "composer-foot" },
      el("button", { type: "button", class: "icon", "aria-label": "Attach files", title: "Attach files", onclick: () => picker.click() }, icon("clip")), picker, names,
      el("span", { class: "small keys", "aria-hidden": true }, "Shift + Enter for a new line"),
      el("button", { type: "button", class: "button primary send", "aria-label": "Send", title: "Send", onclick: submit }, icon("send"))));
  const node = el("div", {}, hints, box);
  return {
    node, field,
    /** Shows the composer of another place, empty. */
    moveTo: (now) => {
      field.setAttribute("aria-label", label());
      field.placeholder = label();
      if (now === place) return;
      place = now;
      put("");
      reveal(false);
    },
    put: (text) => { put(text); field.focus(); show(); },
  };
}
