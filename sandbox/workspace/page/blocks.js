// Block Kit as elements. https://docs.slack.dev/reference/block-kit/blocks

import { chart } from "./chart.js";
import { el, safeUrl } from "./dom.js";
import { control, inputFor } from "./elements.js";
import { channelPill, emoji, inline, mrkdwn, userPill } from "./mrkdwn.js";
import { dataTable } from "./table.js";

export function text(object) {
  if (!object) return [];
  return object.type === "mrkdwn" ? mrkdwn(object.text) : [el("p", {}, object.text)];
}

function styled(node, style = {}) {
  const marks = { code: "code", bold: "b", italic: "i", strike: "s" };
  return Object.keys(marks).filter((name) => style[name]).reduce((made, name) => el(marks[name], {}, made), node);
}

function richPiece(piece) {
  switch (piece.type) {
    case "text": return styled(piece.text, piece.style);
    case "link": return safeUrl(piece.url) ? el("a", { href: piece.url, target: "_blank", rel: "noopener noreferrer" }, piece.text || piece.url) : piece.text || piece.url;
    case "user": return userPill(piece.user_id);
    case "channel": return channelPill(piece.channel_id);
    case "broadcast": return el("span", { class: "pill broadcast" }, `@${piece.range}`);
    case "emoji": return el("span", { role: "img", "aria-label": piece.name }, emoji(piece.name));
    case "date": return el("span", {}, ...inline(`<!date^${piece.timestamp}^${piece.format}|${piece.fallback || ""}>`));
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

const DRAW = {
  section: (block, context) =>
    el("div", { class: "section" },
      el("div", { class: "grow" }, ...text(block.text),
        ...(block.fields ? [el("div", { class: "fields" }, ...block.fields.map((field) => el("div", {}, ...text(field))))] : [])),
      ...(block.accessory ? [el("div", {}, control(block.accessory, block.block_id, context))] : [])),
  divider: () => el("hr", { class: "divider" }),
  header: (block) => el("div", { class: "header", role: "heading", "aria-level": 3 }, block.text.text),
  context: (block) =>
    el("div", { class: "context" }, ...block.elements.map((one) =>
      one.type === "image" ? el("img", { src: safeUrl(one.image_url), alt: one.alt_text, width: 20, height: 20 }) : el("span", {}, ...(one.type === "mrkdwn" ? inline(one.text) : [one.text])))),
  actions: (block, context) => el("div", { class: "row" }, ...block.elements.map((one) => control(one, block.block_id, context))),
  image: (block) => el("img", { src: safeUrl(block.image_url), alt: block.alt_text, style: "max-width:100%" }),
  rich_text: richText,
  input: inputFor,
  data_table: dataTable,
  data_visualization: chart,
};

/** All blocks of a message or dialogue. An unknown one shows itself, so that nothing is missed in silence. */
export function drawAll(blocks, context) {
  const unknown = (block) => el("p", { class: "unknown" }, `This page cannot draw a block of type “${block.type}”.`);
  return blocks.map((block) => el("div", { class: "block" }, (DRAW[block.type] || unknown)(block, context)));
}
