// Buttons, menus and inputs. What a person does with one goes to the bot as the action's payload.

import { el, safeUrl } from "./dom.js";
import { state } from "./store.js";
import { act } from "./act.js";
import { ask } from "./dialogs.js";
import { overflowMenu } from "./menu.js";

const label = (object) => object?.text || "";
const plainOption = (option) => ({ text: option.text, value: option.value });

async function confirmed(confirm) {
  if (!confirm) return true;
  return ask(label(confirm.title), label(confirm.text), label(confirm.confirm) || "Yes", label(confirm.deny) || "No");
}

export function button(element, blockId, context) {
  const press = async () => {
    if (!(await confirmed(element.confirm))) return;
    await act(context, { type: "button", action_id: element.action_id, block_id: blockId, value: element.value, text: element.text });
  };
  const attributes = { class: `button ${element.style || ""}`, onclick: press, "aria-label": element.accessibility_label };
  const url = safeUrl(element.url);
  if (url) return el("a", { ...attributes, href: url, target: "_blank", rel: "noopener", role: "button" }, label(element.text));
  return el("button", { ...attributes, type: "button" }, label(element.text));
}

function optionsOf(element) {
  const people = () => [...state.users.values()].map((user) => ({ text: { text: user.real_name || user.name }, value: user.id }));
  const rooms = () => [...state.channels.values()].filter((channel) => !channel.is_im && !channel.is_mpim).map((channel) => ({ text: { text: `#${channel.name}` }, value: channel.id }));
  if (element.type.includes("users_select")) return people();
  if (element.type.includes("conversations_select") || element.type.includes("channels_select")) return rooms();
  return element.options || (element.option_groups || []).flatMap((group) => group.options);
}

const CHOSEN = { users_select: "selected_user", conversations_select: "selected_conversation", channels_select: "selected_channel" };

function selectedPayload(element, options, values) {
  const chosen = options.filter((option) => values.includes(option.value));
  if (element.type.startsWith("multi_")) {
    const key = { multi_users_select: "selected_users", multi_conversations_select: "selected_conversations", multi_channels_select: "selected_channels" }[element.type];
    return key ? { [key]: values } : { selected_options: chosen.map(plainOption) };
  }
  if (CHOSEN[element.type]) return { [CHOSEN[element.type]]: values[0] || null };
  return { selected_option: chosen.length ? plainOption(chosen[0]) : null };
}

const hasInitial = (element) => Object.keys(element).some((key) => key.startsWith("initial_")) || element.default_to_current_conversation;

function select(element, onChange, isLabelled) {
  const many = element.type.startsWith("multi_");
  const options = optionsOf(element);
  const initial = new Set([element.initial_option, ...(element.initial_options || [])].filter(Boolean).map((option) => option.value));
  const first = element.initial_user || element.initial_conversation || element.initial_channel || (element.default_to_current_conversation ? state.channel : null);
  if (first) initial.add(first);
  // In a form its label is its name; in a message the placeholder is.
  const made = el("select", { multiple: many, "aria-label": isLabelled ? null : label(element.placeholder) || "Choose" });
  if (!many) made.append(el("option", { value: "" }, label(element.placeholder) || "Choose…"));
  const entry = (option) => {
    const one = el("option", { value: option.value }, label(option.text));
    one.selected = initial.has(option.value);
    return one;
  };
  if (element.option_groups) made.append(...element.option_groups.map((group) => el("optgroup", { label: label(group.label) }, ...group.options.map(entry))));
  else made.append(...options.map(entry));
  const payload = () => selectedPayload(element, options, [...made.selectedOptions].map((option) => option.value).filter(Boolean));
  // Back to the placeholder is no choice, and in a message Slack has no way to make it.
  if (onChange) made.addEventListener("change", () => { if (many || made.value) onChange(payload()); });
  return { node: made, read: payload };
}

function boxes(element, onChange, kind) {
  const initial = new Set([element.initial_option, ...(element.initial_options || [])].filter(Boolean).map((option) => option.value));
  const name = `${element.action_id}-${Math.random()}`;
  const fields = element.options.map((option) => {
    const field = el("input", { type: kind, name, value: option.value });
    field.checked = initial.has(option.value);
    return [field, option];
  });
  const read = () => {
    const chosen = fields.filter(([field]) => field.checked).map(([, option]) => plainOption(option));
    return kind === "radio" ? { selected_option: chosen[0] || null } : { selected_options: chosen };
  };
  const node = el("div", {}, ...fields.map(([field, option]) => el("label", {}, field, " ", label(option.text))));
  if (onChange) node.addEventListener("change", () => onChange(read()));
  return { node, read };
}

const TYPED = { plain_text_input: "text", email_text_input: "email", url_text_input: "url", number_input: "number", datepicker: "date", timepicker: "time" };
const READ_AS = { datepicker: "selected_date", timepicker: "selected_time" };

function typed(element, onChange) {
  const initial = element.initial_value || element.initial_date || element.initial_time || "";
  const limits = { minlength: element.min_length, maxlength: element.max_length, placeholder: label(element.placeholder) };
  const node = element.multiline ? el("textarea", { rows: 5, ...limits }) : el("input", { type: TYPED[element.type], ...limits });
  node.value = initial;
  if (element.focus_on_load) node.setAttribute("autofocus", "");
  const read = () => ({ [READ_AS[element.type] || "value"]: node.value === "" ? null : node.value });
  if (onChange) node.addEventListener("change", () => onChange(read()));
  return { node, read };
}

/** The element with a way to read it, as `state.values` wants it. */
function make(element, onChange, isLabelled = false) {
  if (element.type === "checkboxes") return boxes(element, onChange, "checkbox");
  if (element.type === "radio_buttons") return boxes(element, onChange, "radio");
  if (element.type.endsWith("_select")) return select(element, onChange, isLabelled);
  if (TYPED[element.type]) return typed(element, onChange);
  return { node: el("p", { class: "unknown" }, `This page cannot draw an element of type “${element.type}”.`), read: () => ({}) };
}

/** An element outside an input: using it tells the bot at once. */
export function control(element, blockId, context) {
  if (element.type === "button") return button(element, blockId, context);
  if (element.type === "image") return el("img", { src: safeUrl(element.image_url), alt: element.alt_text, width: 88 });
  let node = null;
  const tell = async (value) => {
    const told = act(context, { type: element.type, action_id: element.action_id, block_id: blockId, ...value });
    // A menu in a message asks for something each time, so it stands ready again at once.
    if (node instanceof HTMLSelectElement && !node.multiple && context.container.type !== "view" && !hasInitial(element)) node.value = "";
    await told;
  };
  if (element.type === "overflow") {
    return overflowMenu(element.options, async (option) => {
      if (await confirmed(element.confirm)) await tell({ selected_option: plainOption(option) });
    });
  }
  ({ node } = make(element, tell));
  return node;
}

/** An input block; the dialogue reads it through `context.fields`. */
export function inputFor(block, context) {
  const { element } = block;
  const tell = block.dispatch_action ? (value) => act(context, { type: element.type, action_id: element.action_id, block_id: block.block_id, ...value }) : null;
  const made = make(element, tell, true);
  const id = `field-${block.block_id}`, isGroup = made.node.localName === "div";
  made.node.id = id;
  if (isGroup) Object.entries({ role: "group", class: "choice", "aria-labelledby": `${id}-label` }).forEach(([name, value]) => made.node.setAttribute(name, value));
  context.fields?.set(block.block_id, { action: element.action_id, type: element.type, read: made.read, node: made.node, optional: block.optional });
  return el("div", { "data-block": block.block_id }, el(isGroup ? "div" : "label", isGroup ? { id: `${id}-label`, class: "label" } : { for: id }, label(block.label), block.optional ? " (optional)" : ""), made.node,
    ...(block.hint ? [el("p", { class: "hint" }, label(block.hint))] : []), el("p", { class: "error", role: "alert", hidden: true }));
}
