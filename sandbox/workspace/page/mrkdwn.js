// Slack's mrkdwn as elements. https://docs.slack.dev/messaging/formatting-message-text

import { el, safeUrl } from "./dom.js";
import { nameOf, state, userOf } from "./store.js";

const EMOJI = {
  eyes: "👀", memo: "📝", x: "❌", gear: "⚙️", wave: "👋", mag: "🔍", ghost: "👻", zzz: "💤", warning: "⚠️", tada: "🎉",
  hourglass_flowing_sand: "⏳", hourglass: "⌛", heavy_minus_sign: "➖", file_folder: "📁", wastebasket: "🗑️", no_entry: "⛔", grey_question: "❔",
  leftwards_arrow_with_hook: "↩️", speech_balloon: "💬", information_source: "ℹ️", paperclip: "📎", bulb: "💡", rocket: "🚀",
  mailbox_with_no_mail: "📭", white_check_mark: "✅", thumbsup: "👍", "+1": "👍", "-1": "👎", heart: "❤️", bell: "🔔", lock: "🔒",
  bar_chart: "📊", chart_with_upwards_trend: "📈", chart_with_downwards_trend: "📉", robot_face: "🤖", bust_in_silhouette: "👤",
  busts_in_silhouette: "👥", calendar: "📅", clock1: "🕐", link: "🔗", pencil2: "✏️", repeat: "🔁", sparkles: "✨", question: "❓",
  arrow_up: "⬆️", arrow_down: "⬇️", arrow_right: "➡️", new: "🆕", books: "📚", key: "🔑", hammer_and_wrench: "🛠️", double_vertical_bar: "⏸️", page_facing_up: "📄", smile: "😄", raised_hands: "🙌", pray: "🙏", clap: "👏",
};

export const emoji = (name) => EMOJI[name] || `:${name}:`;
export const emojiNames = () => Object.keys(EMOJI);
const unescape = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
const zone = () => userOf(state.me).tz || undefined;
const format = (date, options) => new Intl.DateTimeFormat("en-GB", { ...options, timeZone: zone() }).format(date);

function dayWord(date, otherwise) {
  const day = (at) => format(at, { year: "numeric", month: "2-digit", day: "2-digit" });
  const now = Date.now();
  if (day(date) === day(now)) return "today";
  if (day(date) === day(now - 86400000)) return "yesterday";
  if (day(date) === day(now + 86400000)) return "tomorrow";
  return otherwise;
}

function ago(date) {
  const minutes = Math.round((Date.now() - date) / 60000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} minutes ago`;
  return minutes < 2880 ? `${Math.round(minutes / 60)} hours ago` : `${Math.round(minutes / 1440)} days ago`;
}

export const clockOf = (ts) => format(new Date(Number(ts) * 1000), { hour: "2-digit", minute: "2-digit" });
export const dayOf = (ts) => {
  const date = new Date(Number(ts) * 1000);
  const said = dayWord(date, format(date, { weekday: "long", day: "numeric", month: "long" }));
  return said[0].toUpperCase() + said.slice(1);
};

/** A day and a time in few words, in the middle of a sentence. */
export const momentOf = (ts) => `${dayOf(ts).replace(/^(Today|Yesterday|Tomorrow)$/, (word) => word.toLowerCase())} at ${clockOf(ts)}`;

/** The present, as the person sees it, and where that is. */
export const present = () => ({ time: clockOf(Date.now() / 1000), place: (zone() || "").split("/").at(-1).replaceAll("_", " ") });

function slackDate(seconds, pattern) {
  const date = new Date(seconds * 1000);
  const long = { weekday: "long", day: "numeric", month: "long", year: "numeric" };
  const short = { day: "numeric", month: "short", year: "numeric" };
  const plain = { day: "numeric", month: "long", year: "numeric" };
  const forms = {
    date: () => format(date, plain), date_num: () => format(date, { year: "numeric", month: "2-digit", day: "2-digit" }),
    date_short: () => format(date, short), date_long: () => format(date, long),
    date_pretty: () => dayWord(date, format(date, plain)), date_short_pretty: () => dayWord(date, format(date, short)),
    date_long_pretty: () => dayWord(date, format(date, long)), time: () => format(date, { hour: "2-digit", minute: "2-digit" }),
    time_secs: () => format(date, { hour: "2-digit", minute: "2-digit", second: "2-digit" }), ago: () => ago(date),
  };
  return pattern.replace(/\{(\w+)\}/g, (whole, name) => (forms[name] ? forms[name]() : whole));
}

export function userPill(id) {
  return el("span", { class: id === state.me ? "pill you" : "pill" }, `@${nameOf(userOf(id))}`);
}

export function channelPill(id, label) {
  return el("span", { class: "pill" }, `#${state.channels.get(id)?.name || label || id}`);
}

function entity(inside) {
  const [target, ...rest] = inside.split("|");
  const label = rest.join("|");
  if (target.startsWith("@")) return userPill(target.slice(1));
  if (target.startsWith("#")) return channelPill(target.slice(1), label);
  if (target.startsWith("!date^")) {
    const [, seconds, pattern, link] = target.split("^");
    const shown = /^\d+$/.test(seconds) ? slackDate(Number(seconds), pattern || "") : label;
    return safeUrl(link) ? el("a", { href: link, target: "_blank", rel: "noopener" }, shown) : shown;
  }
  if (target.startsWith("!subteam^")) return el("span", { class: "pill broadcast" }, label || "@group");
  if (target.startsWith("!")) return el("span", { class: "pill broadcast" }, label || `@${target.slice(1)}`);
  const url = unescape(target);
  if (!safeUrl(url)) return unescape(label || target);
  return el("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, unescape(label || target.replace(/^mailto:/, "")));
}

const INLINE = /(<[^<>\n]*>)|```([\s\S]+?)```|`([^`\n]+)`|(?<![\w*])\*(?!\s)([^*\n]+?)\*(?![\w*])|(?<![\w_])_(?!\s)([^_\n]+?)_(?![\w_])|(?<![\w~])~(?!\s)([^~\n]+?)~(?![\w~])|:([a-z0-9_+'-]+):/g;

export function inline(text) {
  const made = [];
  let last = 0;
  for (const found of text.matchAll(INLINE)) {
    if (found.index > last) made.push(unescape(text.slice(last, found.index)));
    const [whole, angle, pre, code, bold, italic, strike, name] = found;
    if (angle) made.push(entity(angle.slice(1, -1)));
    else if (pre) made.push(el("pre", {}, unescape(pre.replace(/^\n/, ""))));
    else if (code) made.push(el("code", {}, unescape(code)));
    else if (bold) made.push(el("b", {}, ...inline(bold)));
    else if (italic) made.push(el("i", {}, ...inline(italic)));
    else if (strike) made.push(el("s", {}, ...inline(strike)));
    else made.push(EMOJI[name] ? el("span", { role: "img", "aria-label": name }, EMOJI[name]) : whole);
    last = found.index + whole.length;
  }
  if (last < text.length) made.push(unescape(text.slice(last)));
  return made;
}

/** mrkdwn with its quotes and line ends. */
export function mrkdwn(text) {
  const made = [];
  let quoted = [];
  const flush = () => {
    if (quoted.length) made.push(el("blockquote", {}, ...inline(quoted.join("\n"))));
    quoted = [];
  };
  let plain = [];
  const flushPlain = () => {
    if (plain.length) made.push(el("p", {}, ...inline(plain.join("\n"))));
    plain = [];
  };
  for (const line of text.split("\n")) {
    const quote = /^(?:&gt;|>)\s?(.*)$/.exec(line);
    if (quote) { flushPlain(); quoted.push(quote[1]); } else { flush(); plain.push(line); }
  }
  flush();
  flushPlain();
  return made;
}

/** The words alone, for announcements and labels. */
export const plainText = (text) => el("span", {}, ...inline(text || "")).textContent;
