// What a person does with an element, told to the bot.

import { post } from "./api.js";
import { notice } from "./dialogs.js";
import { state } from "./store.js";

export async function act(context, action) {
  const values = context.fields ? readFields(context.fields) : chosen(action);
  const answer = await post("action", { user: state.me, container: context.container, action, state: values });
  if (!answer.ok && answer.detail) notice(answer.detail);
  else if (!answer.ok) notice(`That did not work: ${answer.error}`);
}

/** What was chosen in a message, as `state.values` tells it beside the action. */
function chosen({ type, action_id, block_id, ...value }) {
  return type === "button" ? {} : { [block_id]: { [action_id]: { type, ...value } } };
}

/** What stands in a dialogue's inputs, as `state.values`. */
export function readFields(fields) {
  const values = {};
  for (const [block, field] of fields) values[block] = { [field.action]: { type: field.type, ...field.read() } };
  return values;
}
