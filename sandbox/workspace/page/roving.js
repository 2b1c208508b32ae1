// A list with one tab stop, where the arrow keys move.
// https://www.w3.org/WAI/ARIA/apg/practices/keyboard-interface/

const INSIDE = "a[href], button, input, select, textarea, summary";

/** Makes one of these the tab stop; what lies inside the others is out of the order of Tab. */
function settle(items, current) {
  for (const item of items) {
    const isHere = item === current;
    item.tabIndex = isHere ? 0 : -1;
    for (const inner of item.querySelectorAll(INSIDE)) inner.tabIndex = isHere ? 0 : -1;
  }
}

/**
 * Lets the arrow keys, Home and End move among the elements that match in a container.
 * Returns what to call when they have changed. `start` tells which one is the tab stop at first.
 */
export function roving(container, selector, { keys = ["ArrowUp", "ArrowDown"], start = (items) => items[0] } = {}) {
  let current = null;
  const items = () => [...container.querySelectorAll(selector)];
  const make = (item) => { current = item; settle(items(), item); };

  container.addEventListener("focusin", (event) => {
    const item = event.target.closest(selector);
    if (item && item !== current) make(item);
  });
  container.addEventListener("keydown", (event) => {
    // Inside an item the keys belong to what has the focus there, such as a menu.
    if (!event.target.matches(selector) || event.altKey || event.ctrlKey || event.metaKey) return;
    const all = items(), at = all.indexOf(event.target);
    const to = { [keys[0]]: at - 1, [keys[1]]: at + 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    all[Math.min(Math.max(to, 0), all.length - 1)]?.focus();
  });
  return () => {
    const all = items();
    if (!all.length) return;
    // A message that changed is drawn anew, and stays the tab stop.
    const again = () => all.find((item) => item.dataset.ts && item.dataset.ts === current?.dataset.ts);
    make(all.includes(current) ? current : again() || start(all));
  };
}
