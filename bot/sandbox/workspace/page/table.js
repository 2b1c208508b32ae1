// table and data_table; the latter sorts by a column's head and shows a page at a time.

import { el } from "./dom.js";
import { richText } from "./blocks.js";

const textOf = (cell) => (cell.type === "raw_number" ? cell.text || String(cell.value) : cell.text || "");
const weigh = (cell) => (cell.type === "raw_number" ? cell.value : textOf(cell).toLowerCase());

function cellOf(cell) {
  return el("td", { class: cell.type === "raw_number" ? "number" : "" }, ...(cell.type === "rich_text" ? richText(cell) : [textOf(cell)]));
}

export function dataTable(block) {
  const [head, ...rows] = block.rows;
  const size = block.type === "data_table" ? block.page_size || 5 : rows.length || 1;
  let order = rows, page = 0, sorted = null;
  const body = el("tbody", {});
  const place = el("span", { class: "small" });
  const pages = () => Math.max(1, Math.ceil(order.length / size));
  const draw = () => {
    body.replaceChildren(...order.slice(page * size, (page + 1) * size).map((row) => el("tr", {}, ...row.map(cellOf))));
    place.textContent = ` ${page + 1} of ${pages()} `;
  };
  const sortBy = (column) => {
    const down = sorted === column;
    sorted = down ? null : column;
    order = [...rows].sort((a, b) => (weigh(a[column]) < weigh(b[column]) ? -1 : 1) * (down ? 1 : -1));
    page = 0;
    draw();
  };
  const heads = head.map((cell, column) => el("th", { scope: "col" },
    block.type === "data_table" ? el("button", { class: "link", type: "button", onclick: () => sortBy(column) }, textOf(cell)) : textOf(cell)));
  draw();
  const turn = (by) => el("button", { class: "button", type: "button", "aria-label": by > 0 ? "Next rows" : "Rows before", onclick: () => { page = Math.min(Math.max(page + by, 0), pages() - 1); draw(); } }, by > 0 ? "›" : "‹");
  return el("div", { style: "overflow-x:auto" },
    el("table", {}, ...(block.caption ? [el("caption", {}, block.caption)] : []), el("thead", {}, el("tr", {}, ...heads)), body),
    ...(rows.length > size ? [el("p", {}, turn(-1), place, turn(1))] : []));
}
