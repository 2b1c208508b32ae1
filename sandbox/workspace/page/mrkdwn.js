// Slack's mrkdwn as elements. https://docs.slack.dev/messaging/formatting-message-text

import { el, safeUrl } from "./dom.js";
import { nameOf, state, userOf } from "./store.js";

const EMOJI = {
  eyes: "👀", memo: "📝", x: "❌", gear: "⚙️", wrench: "🔧", warning: "⚠️", tada: "🎉", hourglass_flowing_sand: "⏳",
  heavy_minus_sign: "➖", file_folder: "📁", no_entry: "⛔", no_entry_sign: "🚫", grey_question: "❔", leftwards_arrow_with_hook: "↩️",
  ghost: "👻", zzz: "💤", white_check_mark: "✅", double_vertical_bar: "⏸️", thumbsup: "👍", "+1": "👍", "-1": "👎",
  heart: "❤️", robot_face: "🤖", bust_in_silhouette: "👤", smile: "😄", raised_hands: "🙌", pray: "🙏",
  bar_chart: "📊", bulb: "💡",
};

export const emoji = (name) => EMOJI[name] || `:${name}:`;
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

/** How long ago a time was, which Slack keeps current by itself. */
function ago(seconds) {
  const minutes = Math.round((Date.now() / 1000 - seconds) / 60);
  const [count, unit] = minutes < 60 ? [minutes, "minute"] : minutes < 1440 ? [Math.round(minutes / 60), "hour"] : [Math.round(minutes / 1440), "day"];
  return minutes < 1 ? "just now" : `${count} ${unit}${count === 1 ? "" : "s"} ago`;
}

setInterval(() => document.querySelectorAll("time[data-ago]").forEach((shown) => { shown.textContent = slackDate(Number(shown.dataset.ago), shown.dataset.pattern); }), 10_000);

function slackDate(seconds, pattern) {
  const date = new Date(seconds * 1000);
  const day = { day: "numeric", month: "long", year: "numeric" };
  const forms = { date: day, date_short: { ...day, month: "short" }, date_long: { ...day, weekday: "long" }, time: { hour: "2-digit", minute: "2-digit" } };
  return pattern.replace(/\{(\w+?)(_pretty)?\}/g, (whole, name, pretty) => {
    const said = forms[name] ? format(date, forms[name]) : name === "ago" ? ago(seconds) : whole;
    return pretty ? dayWord(date, said) : said;
  });
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
    if ((pattern || "").includes("{ago}")) return el("time", { "data-ago": seconds, "data-pattern": pattern }, shown);
    return safeUrl(link) ? el("a", { href: link, target: "_blank", rel: "noopener" }, shown) : shown;
  }
  if (target.startsWith("!subteam^")) return el("span", { class: "pill" }, label || `@${state.groups[target.slice(9)] || target.slice(9)}`);
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
  const runs = [];
  for (const line of text.split("\n")) {
    const quote = /^(?:&gt;|>)\s?(.*)$/.exec(line), name = quote ? "blockquote" : "p";
    if (runs.at(-1)?.name !== name) runs.push({ name, lines: [] });
    runs.at(-1).lines.push(quote ? quote[1] : line);
  }
  return runs.map(({ name, lines }) => el(name, {}, ...inline(lines.join("\n"))));
}

/** The words alone, for announcements and labels. */
export const plainText = (text) => el("span", {}, ...inline(text || "")).textContent;
