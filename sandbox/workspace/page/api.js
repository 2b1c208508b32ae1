// Talking to the workspace that served this page.

/** This tab's name, also after a reload: a form opens only where it was asked for. */
export const TAB = (sessionStorage.tab ||= crypto.getRandomValues(new Uint32Array(2)).join("-"));

export async function post(path, body) {
  try {
    const response = await fetch(`/page/${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ ...body, tab: TAB }),
    });
    const answer = await response.json();
    if (answer.ok) dispatchEvent(new CustomEvent("posted", { detail: { path, body } }));
    return answer;
  } catch {
    return { ok: false, error: "unreachable", detail: "The workspace does not answer. Is the sandbox still running?" };
  }
}

export async function loadState(user) {
  const response = await fetch(`/page/state?${new URLSearchParams({ tab: TAB, ...(user ? { user } : {}) })}`);
  if (!response.ok) throw new Error(`state ${response.status}`);
  return response.json();
}

/** Calls `onEvent` for each event from `since` on, and `onState` with whether the line stands; reconnects. */
export function listen(user, since, onEvent, onState) {
  let closed = false;
  let socket = null;
  let seen = since;
  let wait = 300;
  const open = () => {
    if (closed) return;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    socket = new WebSocket(`${scheme}://${location.host}/page/events?${new URLSearchParams({ user, tab: TAB, since: seen })}`);
    socket.onopen = () => { wait = 300; onState(true); };
    socket.onmessage = (frame) => {
      const event = JSON.parse(frame.data);
      if (event.seq !== undefined) seen = event.seq;
      onEvent(event);
    };
    socket.onclose = () => {
      if (closed) return;
      onState(false);
      setTimeout(open, wait);
      wait = Math.min(wait * 2, 5000);
    };
  };
  open();
  return () => { closed = true; socket?.close(); };
}
