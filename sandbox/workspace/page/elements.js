// Buttons, menus and inputs. What a person does with one goes to the bot as the action's payload.

import { post } from "./api.js";
import { notice } from "./dialogs.js";
import { el, safeUrl } from "./dom.js";
import { state } from "./store.js";

const label = (object) => object?.text || "";
const plainOption = (option) => ({ text: option.text, value: option.value });

async function act(context, element, block_id, value) {
  const action = { type: element.type, action_id: element.action_id, block_id, ...value };
  const values = context.fields ? readFields(context.fields)
    : element.type === "button" ? {} : { [block_id]: { [element.action_id]: { type: element.type, ...value } } };
  const answer = await post("action", { user: state.me, container: context.container, action, state: values });
  if (!answer.ok) notice(answer.detail || `That did not work: ${answer.error}`);
}

/** What stands in a dialogue's inputs, as `state.values`. */
export function readFields(fields) {
  const values = {};
  for (const [block, field] of fields) values[block] = { [field.action]: { type: field.type, ...field.read() } };
  return values;
}

function button(element, blockId, context) {
  const press = () => act(context, element, blockId, { value: element.value, text: element.text });
  const attributes = { class: `button ${element.style || ""}`, onclick: press };
  const url = safeUrl(element.url);
  if (url) return el("a", { ...attributes, href: url, target: "_blank", rel: "noopener", role: "button" }, label(element.text));
  return el("button", { ...attributes, type: "button" }, label(element.text));
}

function select(element, onChange, isLabelled) {
  const isOfChannels = element.type === "conversations_select";
  const options = isOfChannels
    ? [...state.channels.values()].filter((channel) => !channel.is_im && !channel.is_mpim).map((channel) => ({ text: { text: `#${channel.name}` }, value: channel.id }))
    : element.options;
  const initial = element.initial_option?.value || (element.default_to_current_conversation ? state.channel : "");
  // In a form its label is its name; in a message the placeholder is.
  const node = el("select", { "aria-label": isLabelled ? null : label(element.placeholder) || "Choose" },
    el("option", { value: "" }, label(element.placeholder) || "Choose…"), ...options.map((option) => el("option", { value: option.value }, label(option.text))));
  node.value = options.some((option) => option.value === initial) ? initial : "";
  const read = () => {
    const chosen = options.find((option) => option.value === node.value);
    return isOfChannels ? { selected_conversation: node.value || null } : { selected_option: chosen ? plainOption(chosen) : null };
  };
  // Back to the placeholder is no choice, and in a message Slack has no way to make it.
  if (onChange) node.addEventListener("change", () => { if (node.value) onChange(read()); });
  return { node, read };
}

function boxes(element, onChange) {
  const initial = (element.initial_options || []).map((option) => option.value);
  const fields = element.options.map((option) => {
    const field = el("input", { type: "checkbox", value: option.value });
    field.checked = initial.includes(option.value);
    return [field, option];
  });
  const read = () => ({ selected_options: fields.filter(([field]) => field.checked).map(([, option]) => plainOption(option)) });
  const node = el("div", {}, ...fields.map(([field, option]) => el("label", {}, field, " ", label(option.text))));
  if (onChange) node.addEventListener("change", () => onChange(read()));
  return { node, read };
}

function typed(element, onChange) {
  const limits = { maxlength: element.max_length, placeholder: label(element.placeholder), autofocus: element.focus_on_load };
  const node = el(element.multiline ? "textarea" : "input", { ...(element.multiline ? { rows: 5 } : { type: "text" }), ...limits, value: element.initial_value });
  const read = () => ({ value: node.value === "" ? null : node.value });
  if (onChange) node.addEventListener("change", () => onChange(read()));
  return { node, read };
}

/** The element with a way to read it, as `state.values` wants it. */
function make(element, onChange, isLabelled = false) {
  if (element.type === "checkboxes") return boxes(element, onChange);
  if (["static_select", "conversations_select"].includes(element.type)) return select(element, onChange, isLabelled);
  if (element.type === "plain_text_input") return typed(element, onChange);
  return { node: el("p", { class: "unknown" }, `This page cannot draw an element of type “${element.type}”.`), read: () => ({}) };
}

/** An element outside an input: using it tells the bot at once. */
export function control(element, blockId, context) {
  if (element.type === "button") return button(element, blockId, context);
  const { node } = make(element, async (value) => {
    const told = act(context, element, blockId, value);
    // A menu in a message asks for something each time, so it stands ready again at once.
    if (node.localName === "select" && context.container.type !== "view" && !element.initial_option) node.value = "";
    await told;
  });
  return node;
}

/** An input block; the dialogue reads it through `context.fields`. */
export function inputFor(block, context) {
  const { element } = block;
  const { node, read } = make(element, null, true);
  const id = `field-${block.block_id}`, isGroup = node.localName === "div";
  node.id = id;
  if (isGroup) Object.entries({ role: "group", class: "choice", "aria-labelledby": `${id}-label` }).forEach(([name, value]) => node.setAttribute(name, value));
  context.fields?.set(block.block_id, { action: element.action_id, type: element.type, read, node, optional: block.optional });
  return el("div", { "data-block": block.block_id }, el(isGroup ? "div" : "label", isGroup ? { id: `${id}-label`, class: "label" } : { for: id }, label(block.label), block.optional ? " (optional)" : ""), node,
    ...(block.hint ? [el("p", { class: "hint" }, label(block.hint))] : []), el("p", { class: "error", role: "alert", hidden: true }));
}
