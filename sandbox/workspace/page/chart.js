// data_visualization as SVG: lines alone, since the bot draws no other chart.
// https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block

import { el, svg } from "./dom.js";

// Each has a contrast of 3:1 and more to every ground of a message, in light and in dark.
const COLORS = ["#1f8a68", "#c9702a", "#5479da", "#b355a0", "#7d8a1f", "#cc4b4b", "#2f8fa3", "#94743f"];
const WIDE = 560, NARROW = 330, H = 170, LEFT = 46, TOP = 10;
const STEPS = 4;
const CHARACTER = 6.4;
const NARROW_WINDOW = matchMedia("(max-width: 760px)");

const colorOf = (number) => COLORS[number % COLORS.length];
const counted = (value) => value.toLocaleString("en");
const short = (value) => (value >= 1_000_000 ? `${value / 1_000_000}M` : value >= 10_000 ? `${value / 1000}k` : counted(value));

/** The end of the axis: the next number that four equal steps reach in round figures. */
function roundUp(most) {
  const unit = 10 ** Math.floor(Math.log10(most / STEPS));
  const step = [1, 2, 2.5, 5, 10].find((one) => one * unit * STEPS >= most) * unit;
  return Math.max(STEPS, step * STEPS);
}

/** The axes; returns where a category and a value lie. */
function frame(picture, width, { series, axis_config: { categories } }) {
  const most = roundUp(Math.max(1, ...series.flatMap((one) => one.data.map((point) => point.value))));
  const bottom = H - 30;
  const group = (width - LEFT) / categories.length;
  const y = (value) => bottom - (value / most) * (bottom - TOP);
  for (let step = 0; step <= STEPS; step += 1) {
    const value = (most * step) / STEPS;
    picture.append(svg("line", { x1: LEFT, x2: width, y1: y(value), y2: y(value), stroke: "currentColor", "stroke-opacity": 0.15 }),
      svg("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, short(value)));
  }
  const longest = Math.max(...categories.map((name) => name.length)) * CHARACTER;
  const every = Math.max(1, Math.ceil((longest + 8) / group));
  categories.forEach((name, at) => {
    const x = Math.min(Math.max(LEFT + group * (at + 0.5), longest / 2), width - longest / 2);
    if ((categories.length - 1 - at) % every === 0) picture.append(svg("text", { x, y: bottom + 18, "text-anchor": "middle" }, name));
  });
  return { x: (at) => LEFT + group * (at + 0.5), y };
}

/** The picture, which is drawn anew when the window becomes narrow or wide. */
export function chart(block) {
  let shown = draw(block);
  const redraw = () => {
    if (!shown.isConnected) {
      NARROW_WINDOW.removeEventListener("change", redraw);
      return;
    }
    const anew = draw(block);
    shown.replaceWith(anew);
    shown = anew;
  };
  NARROW_WINDOW.addEventListener("change", redraw);
  return shown;
}

function draw({ title, chart: drawn }) {
  if (drawn.type !== "line") return el("p", { class: "unknown" }, `This page cannot draw a chart of type “${drawn.type}”.`);
  // In a narrow window letters would shrink with the picture, so the picture itself is drawn narrower.
  const width = NARROW_WINDOW.matches ? NARROW : WIDE;
  const words = drawn.series.map((one) => `${one.name}: ${one.data.map((point) => `${point.label} ${point.value}`).join(", ")}`).join(". ");
  const picture = svg("svg", { class: "chart", style: `max-width:${width * 1.2}px`, viewBox: `0 0 ${width} ${H}`, role: "img", "aria-label": `${title}. ${words}` });
  const at = frame(picture, width, drawn);
  drawn.series.forEach((series, number) => {
    const points = series.data.map((point, column) => [at.x(column), at.y(point.value)]);
    picture.append(svg("polyline", { points: points.join(" "), fill: "none", stroke: colorOf(number), "stroke-width": 2, "stroke-linejoin": "round" }));
    points.forEach(([x, y], place) => picture.append(svg("circle", { cx: x, cy: y, r: 3, fill: colorOf(number) },
      svg("title", {}, `${series.name}, ${series.data[place].label}: ${counted(series.data[place].value)}`))));
  });
  const legend = drawn.series.map((one, number) => {
    const mark = svg("svg", { width: 10, height: 10, "aria-hidden": true }, svg("rect", { width: 10, height: 10, rx: 2, fill: colorOf(number) }));
    return el("span", {}, mark, ` ${one.name}`);
  });
  return el("figure", { class: "chart-box" }, el("figcaption", {}, el("b", {}, title)), picture, el("div", { class: "context" }, ...legend));
}
