// What the page knows, and who wants to be told when it changes.

export const state = {
  me: null, team: {}, users: new Map(), groups: {}, channels: new Map(), commands: [], shortcuts: [], links: {}, bot: {},
  messages: new Map(), ephemerals: new Map(), homes: new Map(), seq: 0, channel: null, thread: null, unread: new Set(),
};

let listener = () => {};
export const onChange = (told) => { listener = told; };
export const changed = () => listener();

export function take(loaded) {
  const byKey = (list, key) => new Map(list.map((one) => [one[key], one]));
  const shelves = (lists, key) => new Map(Object.entries(lists).map(([id, list]) => [id, byKey(list, key)]));
  Object.assign(state, loaded, {
    users: byKey(loaded.users, "id"), channels: byKey(loaded.channels, "id"),
    messages: shelves(loaded.messages, "ts"), ephemerals: shelves(loaded.ephemerals, "id"),
  });
  changed();
}

const shelf = (map, key) => map.get(key) || map.set(key, new Map()).get(key);

export function putMessage(message) {
  const known = shelf(state.messages, message.channel);
  const isNew = !known.has(message.ts);
  known.set(message.ts, message);
  if (isNew && message.channel !== state.channel && message.user !== state.me) state.unread.add(message.channel);
  changed();
  return isNew;
}

export function dropMessage(channel, ts) {
  shelf(state.messages, channel).delete(ts);
  changed();
}

export function putEphemeral(note) {
  shelf(state.ephemerals, note.channel).set(note.id, note);
  changed();
}

export const userOf = (id) => state.users.get(id) || { id, name: id, real_name: id, color: "#777" };
export const nameOf = (user) => user.real_name || user.name;
const isReply = (message) => message.thread_ts && message.thread_ts !== message.ts;

const byTs = (a, b) => Number(a.ts) - Number(b.ts);

/** Roots and private answers of a channel, in order. */
export function channelItems(channel) {
  const roots = [...(state.messages.get(channel)?.values() || [])].filter((m) => !isReply(m));
  const notes = [...(state.ephemerals.get(channel)?.values() || [])].filter((note) => !note.thread_ts);
  return [...roots, ...notes.map((note) => ({ ...note, ephemeral: true }))].sort(byTs);
}

export function repliesOf(channel, ts) {
  return [...(state.messages.get(channel)?.values() || [])].filter((m) => isReply(m) && m.thread_ts === ts).sort(byTs);
}

/** The root and everything under it. */
export function threadItems(channel, ts) {
  const root = state.messages.get(channel)?.get(ts);
  const notes = [...(state.ephemerals.get(channel)?.values() || [])].filter((note) => note.thread_ts === ts);
  return [...(root ? [root] : []), ...repliesOf(channel, ts), ...notes.map((note) => ({ ...note, ephemeral: true }))].sort(byTs);
}
