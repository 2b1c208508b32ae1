// data_visualization as SVG. https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block

import { el, svg } from "./dom.js";

const COLORS = ["#1a7a5c", "#c9772b", "#4a6fd0", "#a3478f", "#7f8c1f", "#b33a3a", "#3f9fb3", "#8a6d3b"];
const W = 560, H = 240, LEFT = 46, BOTTOM = 30, TOP = 10;

function words(block) {
  const rows = block.chart.type === "pie"
    ? block.chart.segments.map((one) => `${one.label}: ${one.value}`)
    : block.chart.series.map((one) => `${one.name}: ${one.data.map((point) => `${point.label} ${point.value}`).join(", ")}`);
  return `${block.title}. ${rows.join(". ")}`;
}

function axis(picture, most, categories) {
  for (let step = 0; step <= 4; step += 1) {
    const y = TOP + ((H - TOP - BOTTOM) * (4 - step)) / 4;
    picture.append(svg("line", { x1: LEFT, x2: W, y1: y, y2: y, stroke: "currentColor", "stroke-opacity": 0.15 }));
    picture.append(svg("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, String(Math.round((most * step) / 4))));
  }
  const width = (W - LEFT) / categories.length;
  const every = Math.ceil(categories.length / 10);
  categories.forEach((name, at) => {
    if (at % every === 0) picture.append(svg("text", { x: LEFT + width * (at + 0.5), y: H - 10, "text-anchor": "middle" }, name));
  });
}

function bars(picture, chart, most, categories) {
  const group = (W - LEFT) / categories.length;
  const width = (group * 0.76) / chart.series.length;
  chart.series.forEach((series, number) => series.data.forEach((point, at) => {
    const height = (Math.max(point.value, 0) / most) * (H - TOP - BOTTOM);
    picture.append(svg("rect", { x: LEFT + group * at + group * 0.12 + width * number, y: H - BOTTOM - height, width, height, fill: COLORS[number % COLORS.length] }));
  }));
}

function lines(picture, chart, most, categories, filled) {
  const group = (W - LEFT) / categories.length;
  chart.series.forEach((series, number) => {
    const points = series.data.map((point, at) => [LEFT + group * (at + 0.5), H - BOTTOM - (point.value / most) * (H - TOP - BOTTOM)]);
    const path = points.map(([x, y], at) => `${at ? "L" : "M"}${x} ${y}`).join(" ");
    const color = COLORS[number % COLORS.length];
    if (filled) picture.append(svg("path", { d: `${path} L${points.at(-1)[0]} ${H - BOTTOM} L${points[0][0]} ${H - BOTTOM} Z`, fill: color, "fill-opacity": 0.25 }));
    picture.append(svg("path", { d: path, fill: "none", stroke: color, "stroke-width": 2 }));
    points.forEach(([x, y]) => picture.append(svg("circle", { cx: x, cy: y, r: 2.5, fill: color })));
  });
}

function pie(picture, segments) {
  const sum = segments.reduce((all, one) => all + one.value, 0);
  let angle = -Math.PI / 2;
  segments.forEach((one, number) => {
    const next = angle + (one.value / sum) * Math.PI * 2 * 0.99999;
    const at = (turn) => `${W / 2 + 100 * Math.cos(turn)} ${H / 2 + 100 * Math.sin(turn)}`;
    picture.append(svg("path", { d: `M${W / 2} ${H / 2} L${at(angle)} A100 100 0 ${next - angle > Math.PI ? 1 : 0} 1 ${at(next)} Z`, fill: COLORS[number % COLORS.length] }));
    angle = next;
  });
}

export function chart(block) {
  const drawn = block.chart;
  const picture = svg("svg", { class: "chart", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": words(block) });
  if (drawn.type === "pie") pie(picture, drawn.segments);
  else {
    const categories = drawn.axis_config?.categories || drawn.series[0].data.map((point) => point.label);
    const most = Math.max(1, ...drawn.series.flatMap((series) => series.data.map((point) => point.value)));
    axis(picture, most, categories);
    if (drawn.type === "bar") bars(picture, drawn, most, categories);
    else lines(picture, drawn, most, categories, drawn.type === "area");
  }
  const legend = (drawn.segments || drawn.series).map((one, number) => {
    const mark = svg("svg", { width: 10, height: 10, "aria-hidden": true }, svg("rect", { width: 10, height: 10, rx: 2, fill: COLORS[number % COLORS.length] }));
    return el("span", {}, mark, ` ${one.label || one.name}`);
  });
  return el("figure", { style: "margin:0" }, el("figcaption", {}, el("b", {}, block.title)), picture, el("div", { class: "context" }, ...legend));
}
