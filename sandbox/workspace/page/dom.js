// Elements without innerHTML: text from outside only ever becomes text nodes.

export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else if (key === "value") made.value = value;
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

export function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

export const byId = (id) => document.getElementById(id);

const widths = new ResizeObserver((seen) => seen.forEach(({ target }) => {
  if (target.scrollWidth > target.clientWidth) target.tabIndex = 0; else target.removeAttribute("tabindex");
}));

/** A box for what may be wider than its place; where it is, the keyboard can scroll it. */
export function scrolling(name, ...children) {
  const made = el("div", { class: "scrolls", role: "group", "aria-label": name }, ...children);
  widths.observe(made);
  return made;
}

/** Only http(s) and mail addresses become links. */
export function safeUrl(url) {
  return /^(https?:\/\/|mailto:)/i.test(url || "") ? url : null;
}
