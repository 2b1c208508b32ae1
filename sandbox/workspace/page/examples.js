// What to ask for, as buttons that write it into the composer. Nobody is left before a page that asks nothing.

import { byId, el } from "./dom.js";
import { channelItems, nameOf, state, threadItems, userOf } from "./store.js";

const FIRST = ["/docs-agent Add a quickstart for the Python SDK", "/docs-visitors last week"];
const INVITE = "/invite @docs-agent";
const FIX = "@docs-agent fix the page please";

/** Notes that somebody asked the bot for something here, so that nobody has to show how. */
export function noteAsked(text) {
  if (text.startsWith("/docs-") || text.includes("@docs-agent")) localStorage.asked = "yes";
}

/** Whether people talk in the thread of a message, so far without the bot. */
function isTalk(channel, ts) {
  const said = threadItems(channel, ts).filter((one) => !one.ephemeral);
  return said.length > 1 && !said.some((one) => one.bot_id);
}

/** Fills a box with buttons, each of words and what it does; the same ones are not drawn again. */
function fill(box, entries, about = "") {
  const key = [about, ...entries.map(([words]) => words)].join("\n");
  box.hidden = !entries.length;
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  box.replaceChildren("Try:", ...entries.map(([words, act]) => el("button", { type: "button", class: "button", onclick: act }, words)));
}

/** Shows examples for a channel until somebody has asked for something, and for a thread without the bot. */
export function offerExamples(channel, put, putInThread, openThread) {
  const isHidden = channel.is_private || channel.is_im;
  const texts = isHidden && !channel.bot_is_member ? (channel.is_im ? [] : [INVITE]) : localStorage.asked ? [] : FIRST;
  const entries = channel.is_member && !state.thread ? texts.map((text) => [text, () => put(text)]) : [];
  const talk = entries.length && channel.bot_is_member && channelItems(channel.id).findLast((one) => !one.ephemeral && isTalk(channel.id, one.ts));
  if (talk) entries.push([`In ${nameOf(userOf(talk.user)).split(" ")[0]}’s thread: ${FIX}`, () => { openThread(talk.ts); putInThread(FIX); }]);
  fill(byId("examples"), entries, talk?.ts);
  const isTalking = state.thread && channel.bot_is_member && isTalk(channel.id, state.thread);
  fill(byId("thread-examples"), isTalking ? [[FIX, () => putInThread(FIX)]] : []);
}
