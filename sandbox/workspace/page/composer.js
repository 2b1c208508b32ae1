// Where people type: messages, commands with hints, names to complete.

import { ask, notice } from "./act.js";
import { post } from "./api.js";
import { el } from "./dom.js";
import { nameOf, state, userOf } from "./store.js";

const OWN_COMMANDS = [
  { command: "/invite", usage_hint: "@docs-agent", description: "Bring somebody into this channel" },
  { command: "/share", description: "Share this channel with another organisation" },
  { command: "/unshare", description: "End that" },
];

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
    ? [...state.users.values()].map((user) => ({ name: user.name, about: nameOf(user) }))
    : [...state.channels.values()].filter((channel) => !channel.is_im && !channel.is_mpim).map((channel) => ({ name: channel.name, about: channel.topic }));
  return found.filter((one) => one.name.startsWith(start)).slice(0, 8)
    .map((one) => ({ insert: `${word[0]}${one.name} `, replace: word.length, shown: word[0] + one.name, about: one.about }));
}

async function send(text, threadTs) {
  const where = { user: state.me, channel: state.channel };
  const command = /^(\/[\w-]+)(?:\s+([\s\S]*))?$/.exec(text.trim());
  if (command && threadTs) {
    notice(`${command[1]} is not supported in threads. Sorry!`);
    return false;
  }
  if (command?.[1] === "/invite") return told(await post("invite", { ...where, invitee: command[2] || "" }));
  if (["/share", "/unshare"].includes(command?.[1])) return told(await post("share", { ...where, shared: command[1] === "/share" }));
  if (command) {
    const answer = await post("command", { ...where, command: command[1], text: command[2] || "" });
    // The workspace says itself what went wrong with a command.
    return answer.error === "unreachable" ? told(answer) : answer.error !== "unknown_command";
  }
  const answer = await post("message", { ...where, text, thread_ts: threadTs || undefined });
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

/** A composer; `threadTs` tells whether it writes into a thread, when it is asked. */
export function composer(label, threadTs) {
  const hints = el("div", { class: "hints", hidden: true }, el("ul", { role: "listbox", "aria-label": "Suggestions" }));
  const field = el("textarea", { rows: 1, "aria-label": label(), placeholder: label(), autocomplete: "off" });
  let offered = [], at = 0;

  const show = () => {
    offered = choices(field.value.slice(0, field.selectionStart), Boolean(threadTs()));
    hints.hidden = offered.length === 0;
    at = Math.min(at, Math.max(offered.length - 1, 0));
    hints.firstChild.replaceChildren(...offered.map((one, number) =>
      el("li", { role: "option", "aria-selected": String(number === at), onmousedown: (event) => { event.preventDefault(); take(number); } }, one.shown, el("small", {}, one.about || ""))));
  };
  const take = (number) => {
    const one = offered[number];
    const end = field.selectionStart;
    field.setRangeText(one.insert, end - one.replace, end, "end");
    field.focus();
    grow();
    show();
  };
  const grow = () => { field.style.height = "auto"; field.style.height = `${field.scrollHeight}px`; };
  const submit = async () => {
    const text = field.value;
    if (!text.trim()) return;
    field.value = "";
    grow();
    show();
    if (!(await send(text, threadTs()))) { field.value ||= text; grow(); }
  };
  field.addEventListener("input", () => { grow(); at = 0; show(); });
  field.addEventListener("blur", () => { hints.hidden = true; });
  field.addEventListener("keydown", (event) => {
    const open = !hints.hidden;
    if (open && ["ArrowDown", "ArrowUp"].includes(event.key)) {
      event.preventDefault();
      at = (at + (event.key === "ArrowDown" ? 1 : offered.length - 1)) % offered.length;
      show();
    } else if (open && (event.key === "Tab" || (event.key === "Enter" && offered[at].insert.trim() !== field.value.trim()))) {
      event.preventDefault();
      take(at);
    } else if (open && event.key === "Escape") {
      event.stopPropagation();
      hints.hidden = true;
    } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      submit();
    }
  });
  const node = el("div", {}, hints, el("div", { class: "composer" }, field, el("button", { type: "button", class: "button primary", onclick: submit }, "Send")));
  return {
    node, field,
    relabel: () => { field.setAttribute("aria-label", label()); field.placeholder = label(); },
    put: (text) => { field.value = text; grow(); field.focus(); show(); },
  };
}
