// Block Kit as elements. https://docs.slack.dev/reference/block-kit/blocks

import { chart } from "./chart.js";
import { el, safeUrl } from "./dom.js";
import { button, control, inputFor } from "./elements.js";
import { channelPill, emoji, inline, mrkdwn, userPill } from "./mrkdwn.js";
import { dataTable, plainTable } from "./table.js";

export function text(object) {
  if (!object) return [];
  return object.type === "mrkdwn" ? mrkdwn(object.text) : [el("p", {}, object.text)];
}

function styled(node, style = {}) {
  if (style.code) return el("code", {}, node);
  let made = node;
  if (style.bold) made = el("b", {}, made);
  if (style.italic) made = el("i", {}, made);
  if (style.strike) made = el("s", {}, made);
  return made;
}

function richPiece(piece) {
  switch (piece.type) {
    case "text": return styled(piece.text, piece.style);
    case "link": return safeUrl(piece.url) ? el("a", { href: piece.url, target: "_blank", rel: "noopener noreferrer" }, piece.text || piece.url) : piece.text || piece.url;
    case "user": return userPill(piece.user_id);
    case "channel": return channelPill(piece.channel_id);
    case "usergroup": return el("span", { class: "pill broadcast" }, `@${piece.usergroup_id}`);
    case "broadcast": return el("span", { class: "pill broadcast" }, `@${piece.range}`);
    case "emoji": return el("span", { role: "img", "aria-label": piece.name }, emoji(piece.name));
    case "date": return el("span", {}, ...inline(`<!date^${piece.timestamp}^${piece.format}|${piece.fallback || ""}>`));
    case "color": return el("code", {}, piece.value);
    default: return el("span", { class: "unknown" }, piece.type);
  }
}

export function richText(block) {
  return block.elements.map((part) => {
    const pieces = () => part.elements.map(richPiece);
    if (part.type === "rich_text_quote") return el("blockquote", {}, ...pieces());
    if (part.type === "rich_text_preformatted") return el("pre", {}, ...pieces());
    if (part.type === "rich_text_list") {
      return el(part.style === "ordered" ? "ol" : "ul", {}, ...part.elements.map((item) => el("li", {}, ...item.elements.map(richPiece))));
    }
    return el("p", {}, ...pieces());
  });
}

/** A few forms of Markdown, enough for what bots write. */
function markdown(source) {
  const links = source.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    .replace(/\[([^\]\n]+)\]\((https?:[^)\s]+)\)/g, "<$2|$1>").replace(/\*\*([^*\n]+)\*\*/g, "*$1*").replace(/^#{1,6}\s+(.+)$/gm, "*$1*");
  return mrkdwn(links);
}

function card(block, context) {
  return el("div", { class: "modal-like" }, ...text(block.title), ...text(block.subtitle), ...text(block.body),
    el("div", { class: "row" }, ...(block.actions || []).map((action) => button(action, block.block_id, context))));
}

function task(one) {
  const signs = { pending: "○", in_progress: "◐", complete: "●", error: "✕" };
  return el("p", {}, `${signs[one.status] || "○"} ${one.title}`, ...(one.details ? richText(one.details) : []));
}

const DRAW = {
  section: (block, context) => [
    el("div", { class: "section" },
      el("div", { class: "grow" }, ...text(block.text),
        ...(block.fields ? [el("div", { class: "fields" }, ...block.fields.map((field) => el("div", {}, ...text(field))))] : [])),
      ...(block.accessory ? [el("div", {}, control(block.accessory, block.block_id, context))] : [])),
  ],
  divider: () => [el("hr", { class: "divider" })],
  header: (block) => [el("div", { class: "header", role: "heading", "aria-level": 3 }, block.text.text)],
  context: (block) => [
    el("div", { class: "context" }, ...block.elements.map((one) =>
      one.type === "image" ? el("img", { src: safeUrl(one.image_url), alt: one.alt_text, width: 20, height: 20 }) : el("span", {}, ...(one.type === "mrkdwn" ? inline(one.text) : [one.text])))),
  ],
  actions: (block, context) => [el("div", { class: "row" }, ...block.elements.map((one) => control(one, block.block_id, context)))],
  context_actions: (block, context) => [
    el("div", { class: "row" }, ...block.elements.flatMap((one) =>
      one.type === "feedback_buttons"
        ? [one.positive_button, one.negative_button].map((choice) => button({ ...choice, type: "button", action_id: one.action_id }, block.block_id, context))
        : [control(one, block.block_id, context)])),
  ],
  image: (block) => [el("figure", { class: "block" }, ...(block.title ? [el("figcaption", { class: "small" }, block.title.text)] : []), el("img", { src: safeUrl(block.image_url), alt: block.alt_text, style: "max-width:100%" }))],
  rich_text: (block) => richText(block),
  markdown: (block) => markdown(block.text),
  input: (block, context) => [inputFor(block, context)],
  alert: (block) => [el("p", { role: "note" }, ...text(block.text))],
  card,
  carousel: (block, context) => block.elements.map((one) => card(one, context)),
  container: (block, context) => [el("div", {}, ...text(block.title), ...drawAll(block.child_blocks || [], context))],
  task_card: (block) => [task(block)],
  plan: (block) => [el("b", {}, block.title), ...block.tasks.map(task)],
  table: (block) => [plainTable(block)],
  data_table: (block) => [dataTable(block)],
  data_visualization: (block) => [chart(block)],
};

/** All blocks of a message or dialogue. An unknown one shows itself, so that nothing is missed in silence. */
export function drawAll(blocks, context) {
  return blocks.map((block) => {
    const draw = DRAW[block.type];
    const made = draw ? draw(block, context) : [el("p", { class: "unknown" }, `This page cannot draw a block of type “${block.type}”.`)];
    return el("div", { class: "block" }, ...(Array.isArray(made) ? made : [made]));
  });
}
