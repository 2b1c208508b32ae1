// data_table: it sorts by a column's head and shows a page at a time.
// https://docs.slack.dev/reference/block-kit/blocks/data-table-block

import { el, scrolling } from "./dom.js";

const DEFAULT_PAGE = 5;

const textOf = (cell) => cell.text || String(cell.value);
const isNumber = (cell) => cell.type === "raw_number";

function compare(a, b) {
  if (isNumber(a) && isNumber(b)) return a.value - b.value;
  return textOf(a).localeCompare(textOf(b), "en", { numeric: true });
}

function cellOf(cell, column) {
  const attributes = { class: isNumber(cell) ? "number" : "" };
  return column === 0 ? el("th", { scope: "row", ...attributes }, textOf(cell)) : el("td", attributes, textOf(cell));
}

export function dataTable(block) {
  const [head, ...rows] = block.rows;
  const size = block.page_size || DEFAULT_PAGE;
  const pages = Math.max(1, Math.ceil(rows.length / size));
  const body = el("tbody", {});
  const place = el("span", { class: "small", role: "status" });
  const numeric = head.map((_, column) => rows.length > 0 && rows.every((row) => isNumber(row[column])));
  let order = rows, page = 0, sorted = null, falls = false;

  const heads = head.map((cell, column) => {
    const sign = el("span", { "aria-hidden": true, class: "sign" });
    const sort = el("button", { class: "sorter", type: "button", onclick: () => sortBy(column) }, textOf(cell), sign);
    return el("th", { scope: "col", class: numeric[column] ? "number" : "" }, sort);
  });
  const turn = (by, sign, name) => el("button", { class: "button small-button", type: "button", "aria-label": name, onclick: () => { page += by; draw(); } }, sign);
  const before = turn(-1, "‹", "Rows before"), next = turn(1, "›", "Next rows");

  // Numbers from the largest, words from A; the other way at the second click; as it came at the third.
  function sortBy(column) {
    if (sorted !== column) [sorted, falls] = [column, numeric[column]];
    else if (falls === numeric[column]) falls = !falls;
    else sorted = null;
    order = sorted === null ? rows : [...rows].sort((a, b) => compare(a[sorted], b[sorted]) * (falls ? -1 : 1));
    page = 0;
    draw();
  }

  function draw() {
    body.replaceChildren(...order.slice(page * size, (page + 1) * size).map((row) => el("tr", {}, ...row.map(cellOf))));
    heads.forEach((one, column) => {
      const here = sorted === column;
      if (here) one.setAttribute("aria-sort", falls ? "descending" : "ascending");
      else one.removeAttribute("aria-sort");
      one.querySelector(".sign").textContent = here ? (falls ? " ▾" : " ▴") : "";
    });
    place.textContent = `${page * size + 1}–${Math.min((page + 1) * size, rows.length)} of ${rows.length}`;
    before.disabled = page === 0;
    next.disabled = page === pages - 1;
  }

  draw();
  const table = el("table", {}, el("caption", {}, block.caption), el("thead", {}, el("tr", {}, ...heads)), body);
  return el("div", { class: "data-table" }, scrolling(block.caption, table), ...(pages > 1 ? [el("p", { class: "row" }, before, place, next)] : []));
}
