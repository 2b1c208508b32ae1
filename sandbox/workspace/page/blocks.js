// Block Kit as elements. https://docs.slack.dev/reference/block-kit/blocks

import { chart } from "./chart.js";
import { el } from "./dom.js";
import { control, inputFor } from "./elements.js";
import { markdown } from "./markdown.js";
import { inline, mrkdwn } from "./mrkdwn.js";
import { dataTable } from "./table.js";

export function text(object) {
  if (!object) return [];
  return object.type === "mrkdwn" ? mrkdwn(object.text) : [el("p", {}, object.text)];
}

const RICH = { rich_text_quote: "blockquote", rich_text_preformatted: "pre", rich_text_section: "p" };

function piece({ text, style = {} }) {
  const tag = style.strike ? "s" : style.bold ? "strong" : null;
  return tag ? el(tag, {}, text) : text;
}

/** Rich text, of which the bot sends plain words, struck and bold ones. */
function richText(block) {
  return block.elements.map((part) => el(RICH[part.type], { class: "rich", dir: "auto" }, ...part.elements.map(piece)));
}

const DRAW = {
  section: (block, context) =>
    el("div", { class: "section" },
      el("div", { class: "grow" }, ...text(block.text)),
      ...(block.accessory ? [el("div", {}, control(block.accessory, block.block_id, context))] : [])),
  context: (block) => el("div", { class: "context" }, ...block.elements.map((one) => el("span", {}, ...inline(one.text)))),
  actions: (block, context) => el("div", { class: "row" }, ...block.elements.map((one) => control(one, block.block_id, context))),
  rich_text: richText,
  markdown,
  input: inputFor,
  data_table: dataTable,
  data_visualization: chart,
};

/** All blocks of a message or dialogue. An unknown one shows itself, so that nothing is missed in silence. */
export function drawAll(blocks, context) {
  const unknown = (block) => el("p", { class: "unknown" }, `This page cannot draw a block of type “${block.type}”.`);
  return blocks.map((block) => el("div", { class: "block" }, (DRAW[block.type] || unknown)(block, context)));
}
