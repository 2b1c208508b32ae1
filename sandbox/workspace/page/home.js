// The bot's Home tab, beside its direct messages.

import { post } from "./api.js";
import { drawAll } from "./blocks.js";
import { byId, el } from "./dom.js";
import { changed, state } from "./store.js";

let isOpen = false, drawn = null;

/** Shows the tabs where the channel has them, and the open one. */
export function drawHome(channel) {
  const has = channel.is_im && channel.members.includes(state.bot.user_id);
  isOpen &&= has;
  const tab = (label, opens) => el("button", { type: "button", class: "button", "aria-pressed": String(isOpen === opens), onclick: () => {
    isOpen = opens;
    if (opens) post("home", { user: state.me });
    changed();
  } }, label);
  byId("tabs").hidden = !has;
  byId("tabs").replaceChildren(tab("Home", true), tab("Messages", false));
  byId("home").hidden = !isOpen;
  byId("messages").hidden = byId("composer").hidden = isOpen;
  const view = state.homes.get(state.me);
  if (view === drawn) return;
  drawn = view;
  byId("home").replaceChildren(el("div", { class: "body" }, ...drawAll(view?.blocks || [], { container: { type: "view", id: view?.id } })));
}
