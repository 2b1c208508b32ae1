// data_visualization as SVG. https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block

import { el, svg } from "./dom.js";

const COLORS = ["#1a7a5c", "#c9772b", "#4a6fd0", "#a3478f", "#7f8c1f", "#b33a3a", "#3f9fb3", "#8a6d3b"];
const WIDE = 560, NARROW = 330, H = 240, LEFT = 46, TOP = 10, LABEL = 18;
const STEPS = 4;
const CHARACTER = 6.4;

let W = WIDE;

const colorOf = (number) => COLORS[number % COLORS.length];
const counted = (value) => value.toLocaleString("en");

function words(block) {
  const rows = block.chart.type === "pie"
    ? block.chart.segments.map((one) => `${one.label}: ${one.value}`)
    : block.chart.series.map((one) => `${one.name}: ${one.data.map((point) => `${point.label} ${point.value}`).join(", ")}`);
  return `${block.title}. ${rows.join(". ")}`;
}

/** The end of the axis: the next number that four equal steps reach in round figures. */
function roundUp(most) {
  const unit = 10 ** Math.floor(Math.log10(most / STEPS));
  const step = [1, 2, 2.5, 5, 10].find((one) => one * unit * STEPS >= most) * unit;
  return Math.max(STEPS, step * STEPS);
}

const short = (value) => (value >= 1_000_000 ? `${value / 1_000_000}M` : value >= 10_000 ? `${value / 1000}k` : counted(value));

/** The frame of a chart with axes: where a category and a value lie. */
function frame(picture, chart) {
  const categories = chart.axis_config?.categories || chart.series[0].data.map((point) => point.label);
  const most = roundUp(Math.max(1, ...chart.series.flatMap((series) => series.data.map((point) => point.value))));
  const { x_label: below, y_label: beside } = chart.axis_config || {};
  const top = TOP + (beside ? LABEL : 0), bottom = H - 30 - (below ? LABEL : 0);
  const group = (W - LEFT) / categories.length;
  for (let step = 0; step <= STEPS; step += 1) {
    const y = top + ((bottom - top) * (STEPS - step)) / STEPS;
    picture.append(svg("line", { x1: LEFT, x2: W, y1: y, y2: y, stroke: "currentColor", "stroke-opacity": 0.15 }),
      svg("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, short((most * step) / STEPS)));
  }
  const longest = Math.max(...categories.map((name) => name.length)) * CHARACTER;
  const every = Math.max(1, Math.ceil((longest + 8) / group));
  categories.forEach((name, at) => {
    const x = Math.min(Math.max(LEFT + group * (at + 0.5), longest / 2), W - longest / 2);
    if (at % every === 0) picture.append(svg("text", { x, y: bottom + 18, "text-anchor": "middle" }, name));
  });
  if (below) picture.append(svg("text", { x: LEFT + (W - LEFT) / 2, y: H - 4, "text-anchor": "middle" }, below));
  if (beside) picture.append(svg("text", { x: 0, y: TOP + 4 }, beside));
  return { group, x: (at) => LEFT + group * at, y: (value) => bottom - (value / most) * (bottom - top), bottom };
}

const told = (series, point) => svg("title", {}, `${series.name}, ${point.label}: ${counted(point.value)}`);

function bars(picture, chart) {
  const at = frame(picture, chart);
  const width = (at.group * 0.76) / chart.series.length;
  chart.series.forEach((series, number) => series.data.forEach((point, column) => {
    const y = at.y(Math.max(point.value, 0));
    picture.append(svg("rect", { x: at.x(column + 0.12) + width * number, y, width, height: at.bottom - y, fill: colorOf(number) }, told(series, point)));
  }));
}

function lines(picture, chart, filled) {
  const at = frame(picture, chart);
  chart.series.forEach((series, number) => {
    const points = series.data.map((point, column) => [at.x(column + 0.5), at.y(point.value)]);
    const path = points.map(([x, y], place) => `${place ? "L" : "M"}${x} ${y}`).join(" ");
    if (filled) picture.append(svg("path", { d: `${path} L${points.at(-1)[0]} ${at.bottom} L${points[0][0]} ${at.bottom} Z`, fill: colorOf(number), "fill-opacity": 0.25 }));
    picture.append(svg("path", { d: path, fill: "none", stroke: colorOf(number), "stroke-width": 2, "stroke-linejoin": "round" }));
    points.forEach(([x, y], place) => picture.append(svg("circle", { cx: x, cy: y, r: 3, fill: colorOf(number) }, told(series, series.data[place]))));
  });
}

function pie(picture, segments) {
  const sum = segments.reduce((all, one) => all + one.value, 0);
  let angle = -Math.PI / 2;
  segments.forEach((one, number) => {
    const next = angle + (one.value / sum) * Math.PI * 2 * 0.99999;
    const at = (turn) => `${W / 2 + 100 * Math.cos(turn)} ${H / 2 + 100 * Math.sin(turn)}`;
    picture.append(svg("path", { d: `M${W / 2} ${H / 2} L${at(angle)} A100 100 0 ${next - angle > Math.PI ? 1 : 0} 1 ${at(next)} Z`, fill: colorOf(number) },
      svg("title", {}, `${one.label}: ${counted(one.value)}`)));
    angle = next;
  });
}

export function chart(block) {
  const drawn = block.chart;
  // In a narrow window letters would shrink with the picture, so the picture itself is drawn narrower.
  W = matchMedia("(max-width: 760px)").matches ? NARROW : WIDE;
  const picture = svg("svg", { class: "chart", style: `max-width:${W * 1.2}px`, viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": words(block) });
  if (drawn.type === "pie") pie(picture, drawn.segments);
  else if (drawn.type === "bar") bars(picture, drawn);
  else lines(picture, drawn, drawn.type === "area");
  const legend = (drawn.segments || drawn.series).map((one, number) => {
    const mark = svg("svg", { width: 10, height: 10, "aria-hidden": true }, svg("rect", { width: 10, height: 10, rx: 2, fill: colorOf(number) }));
    return el("span", {}, mark, ` ${one.label || one.name}`);
  });
  return el("figure", { class: "chart-box" }, el("figcaption", {}, el("b", {}, block.title)), picture, el("div", { class: "context" }, ...legend));
}
